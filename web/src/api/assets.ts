import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, reply, replyWithHeaders } from './client';
import type { components } from './schema';
import type { Place } from './downloads';

/** An asset with its version identifier, which a change names. */
export type Asset = components['schemas']['AssetReply'] & { etag: string | null };
export type File = components['schemas']['FileItem'];

const PAGE = 500;

export const assetQuery = (place: Place) =>
  queryOptions({
    queryKey: ['asset', place.databaseId, place.assetId],
    queryFn: () => readAsset(place),
  });

export async function readAsset(place: Place): Promise<Asset> {
  const response = await replyWithHeaders(
    api.GET('/database/{databaseId}/assets/{assetId}', {
      params: { path: place, query: { showArchived: true } },
    }),
  );
  return { ...response.data, etag: response.headers.get('etag') };
}

export const filesQuery = (place: Place, includeArchived = false) =>
  infiniteQueryOptions({
    queryKey: ['files', place.databaseId, place.assetId, 'list', includeArchived],
    queryFn: ({ pageParam }) =>
      reply(
        api.GET('/database/{databaseId}/assets/{assetId}/listFiles', {
          params: {
            path: place,
            query: {
              basic: true,
              includeArchived,
              pageSize: PAGE,
              maxItems: PAGE,
              startingToken: pageParam ?? undefined,
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.NextToken ?? undefined,
    // Those of the same asset stay while archived ones are added, so that its model stays, too.
    placeholderData: (before, query) => (query?.queryKey[2] === place.assetId ? before : undefined),
  });
