import { queryOptions } from '@tanstack/react-query';
import { api, replyWithHeaders } from '../../api/client';
import type { PictureSource } from '../../api/pictures';
import type { components } from '../../api/schema';
import { search, pollWhileLagging } from '../../api/search';
import { recordWrite } from '../../api/writes';
import { writeUnlessChanged } from '../asset/editAsset';
import type { LinkedItem } from '../asset/relationQueries';
import { toCard, type Hit } from '../../api/hits';
import { searchBody } from '../find/searchBody';
import type { FindState } from '../find/findState';

/** A database with its version identifier, which a change names. */
export type Database = components['schemas']['DatabaseReply'] & { etag: string | null };

const NEWEST = 24;
const ROUTE = '/database/{databaseId}';

export const databaseQuery = (databaseId: string) =>
  queryOptions({
    queryKey: ['database', databaseId],
    queryFn: () => readDatabase(databaseId),
  });

async function readDatabase(databaseId: string): Promise<Database> {
  const response = await replyWithHeaders(api.GET(ROUTE, { params: { path: { databaseId } } }));
  return { ...response.data, etag: response.headers.get('etag') };
}

/** The assets of a database whose files were changed last. */
export const newestAssetsQuery = (databaseId: string) =>
  queryOptions({
    // As of all that a change of an asset changes.
    queryKey: ['search', 'newest', databaseId],
    queryFn: async ({ signal }): Promise<{ items: LinkedItem[]; lagging: boolean }> => {
      const state: FindState = { facets: { str_databaseid: [databaseId] }, sort: 'newest' };
      const body = { ...searchBody(state, 0, false), size: NEWEST, aggregations: false };
      const result = await search({ ...body, histograms: [], previews: false }, signal);
      const items = result.reply.hits.hits
        .map((hit) => toCard(hit as Hit))
        .map(({ assetId, name, file }) => ({ databaseId, assetId, name, path: file ?? undefined }));
      return { items, lagging: result.lagging };
    },
    refetchInterval: ({ state: { data } }) => pollWhileLagging(data),
  });

/** As many hits as a page of the find page. */
const PICTURED = 50;
const PICTURES = 4;

/** Pictures of the newest assets by database, by one search; the caller may not search everywhere. */
export const newestPicturesQuery = queryOptions({
  queryKey: ['search', 'newest pictures'],
  queryFn: async ({ signal }): Promise<ReadonlyMap<string, PictureSource[]>> => {
    const body = { ...searchBody({ sort: 'newest' }, 0, false), size: PICTURED };
    const { reply } = await search({ ...body, aggregations: false, histograms: [] }, signal);
    const pictures = new Map<string, PictureSource[]>();
    for (const { databaseId, picture } of reply.hits.hits.map((hit) => toCard(hit as Hit))) {
      const before = pictures.get(databaseId) ?? [];
      if (picture.preview && before.length < PICTURES)
        pictures.set(databaseId, [...before, picture]);
    }
    return pictures;
  },
});

/** Writes the description, unless someone has changed it since it was read. */
export const saveDescription = (stored: Database, description: string) =>
  writeUnlessChanged(
    stored,
    async (header, { databaseId }) => {
      const params = { path: { databaseId }, header };
      const written = await replyWithHeaders(api.PUT(ROUTE, { params, body: { description } }));
      recordWrite(written.headers);
      return { description, etag: written.headers.get('etag') };
    },
    () => readDatabase(stored.databaseId),
    (a, b) => a.description !== b.description,
  );
