import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import type { components } from '../../api/schema';
import type { Place } from '../../viewer/sources';

export type Asset = components['schemas']['AssetReply'];
export type File = components['schemas']['FileItem'];

const PAGE = 500;

export const assetOf = (place: Place) =>
  queryOptions({
    queryKey: ['asset', place.databaseId, place.assetId],
    queryFn: () =>
      reply(
        api.GET('/database/{databaseId}/assets/{assetId}', {
          params: { path: place, query: { showArchived: true } },
        }),
      ),
  });

export const filesOf = (place: Place) =>
  infiniteQueryOptions({
    queryKey: ['files', place.databaseId, place.assetId],
    queryFn: ({ pageParam }) =>
      reply(
        api.GET('/database/{databaseId}/assets/{assetId}/listFiles', {
          params: {
            path: place,
            query: {
              basic: true,
              pageSize: PAGE,
              maxItems: PAGE,
              startingToken: pageParam ?? undefined,
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.NextToken ?? undefined,
  });

export const factsOf = (place: Place, filePath: string) =>
  queryOptions({
    queryKey: ['facts', place.databaseId, place.assetId, filePath],
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
