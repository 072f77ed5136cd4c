import { queryOptions } from '@tanstack/react-query';
import type { Place } from '../viewer/sources';
import { api, reply } from './client';

/** What the product has read from a file, by the name of the fact. */
export const factsOf = (place: Place, filePath: string) =>
  queryOptions({
    // As of all that an upload to the asset changes.
    queryKey: ['files', place.databaseId, place.assetId, 'facts', filePath],
    queryFn: async () => {
      const found = await reply(
        api.GET('/database/{databaseId}/assets/{assetId}/metadata/file', {
          params: { path: place, query: { filePath, type: 'attribute' } },
        }),
      );
      return new Map(
        found.metadata
          .filter((each) => each.metadataKey.startsWith('fact_') && each.metadataValue)
          .map((each) => [each.metadataKey.slice('fact_'.length), each.metadataValue]),
      );
    },
  });
