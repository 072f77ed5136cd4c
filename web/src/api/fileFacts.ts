import { queryOptions } from '@tanstack/react-query';
import type { Place } from './downloads';
import { api, reply } from './client';

/** Why a file was not inspected, in words; null while it may still be. */
export const notInspectedQuery = (place: Place, filePath: string) =>
  queryOptions({
    queryKey: ['files', place.databaseId, place.assetId, 'reason', filePath],
    queryFn: async () => {
      const info = await reply(
        api.GET('/database/{databaseId}/assets/{assetId}/fileInfo', {
          params: { path: place, query: { filePath } },
        }),
      );
      return info.notInspected ?? null;
    },
  });

/** What the product has read from a file, by the name of the fact. */
export const factsQuery = (place: Place, filePath: string) =>
  queryOptions({
    // As of all that an upload to the asset changes.
    queryKey: ['files', place.databaseId, place.assetId, 'facts', filePath],
    queryFn: async () => {
      const response = await reply(
        api.GET('/database/{databaseId}/assets/{assetId}/metadata/file', {
          params: { path: place, query: { filePath, type: 'attribute' } },
        }),
      );
      return new Map(
        response.metadata
          .filter((entry) => entry.metadataKey.startsWith('fact_') && entry.metadataValue)
          .map((entry) => [entry.metadataKey.slice('fact_'.length), entry.metadataValue]),
      );
    },
  });
