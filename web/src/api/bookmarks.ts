import { queryOptions } from '@tanstack/react-query';
import { session } from '../session/session';
import { api, reply } from './client';
import type { Place } from './downloads';
import { queryClient } from './queries';
import type { components } from './schema';

export type Bookmark = components['schemas']['Bookmark'];

const profilePath = () => ({ path: { userId: session.current().signedIn?.user ?? '' } });
const bookmarksOf = ({ message }: components['schemas']['ProfileReply']): Bookmark[] =>
  message.Items[0]?.bookmarks ?? [];

/** The searches and assets that the user has saved, in their profile. */
export const bookmarksQuery = queryOptions({
  queryKey: ['bookmarks'],
  queryFn: async () =>
    bookmarksOf(await reply(api.GET('/auth/loginProfile/{userId}', { params: profilePath() }))),
});

async function changeBookmarks(body: components['schemas']['ProfileBody']): Promise<void> {
  const profile = await reply(
    api.POST('/auth/loginProfile/{userId}', { params: profilePath(), body }),
  );
  queryClient.setQueryData(bookmarksQuery.queryKey, bookmarksOf(profile));
}

export const addBookmark = (bookmark: Bookmark) => changeBookmarks({ addBookmarks: [bookmark] });

export const removeBookmark = ({ address }: Bookmark) =>
  changeBookmarks({ removeBookmarks: [address] });

/** The address of an asset in the page. */
export const assetAddress = ({ databaseId, assetId }: Place): string =>
  `/databases/${encodeURIComponent(databaseId)}/assets/${encodeURIComponent(assetId)}`;

/** The asset of an address; null if it is that of a search. */
export function placeOf(address: string): Place | null {
  const [, databaseId, assetId] = /^\/databases\/([^/?]+)\/assets\/([^/?]+)$/.exec(address) ?? [];
  return databaseId === undefined || assetId === undefined
    ? null
    : { databaseId: decodeURIComponent(databaseId), assetId: decodeURIComponent(assetId) };
}
