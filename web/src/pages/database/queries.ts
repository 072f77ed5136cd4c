import { queryOptions } from '@tanstack/react-query';
import { api, replyWithHeaders } from '../../api/client';
import type { components } from '../../api/schema';
import { search, untilFound } from '../../api/search';
import { wrote } from '../../api/writes';
import { unlessChanged } from '../asset/edit';
import type { Shown } from '../asset/relationQueries';
import { cardOf, type Hit } from '../find/hits';
import { searchBody } from '../find/request';
import type { FindState } from '../find/state';

/** A database with its version identifier, which a change names. */
export type Database = components['schemas']['DatabaseReply'] & { etag: string | null };

const NEWEST = 24;
const ROUTE = '/database/{databaseId}';

export const databaseOf = (databaseId: string) =>
  queryOptions({
    queryKey: ['database', databaseId],
    queryFn: () => readDatabase(databaseId),
  });

async function readDatabase(databaseId: string): Promise<Database> {
  const found = await replyWithHeaders(api.GET(ROUTE, { params: { path: { databaseId } } }));
  return { ...found.data, etag: found.headers.get('etag') };
}

/** The assets of a database whose files were changed last. */
export const newestIn = (databaseId: string) =>
  queryOptions({
    // As of all that a change of an asset changes.
    queryKey: ['search', 'newest', databaseId],
    queryFn: async ({ signal }): Promise<{ items: Shown[]; lagging: boolean }> => {
      const state: FindState = { facets: { str_databaseid: [databaseId] }, sort: 'newest' };
      const body = { ...searchBody(state, 0, false), size: NEWEST, aggregations: false };
      const found = await search({ ...body, histograms: [], previews: false }, signal);
      const items = found.reply.hits.hits
        .map((hit) => cardOf(hit as Hit))
        .map(({ assetId, name, file }) => ({ databaseId, assetId, name, path: file ?? undefined }));
      return { items, lagging: found.lagging };
    },
    refetchInterval: ({ state: { data } }) => untilFound(data),
  });

/** Writes the description, unless somebody has changed it since it was read. */
export const describe = (stored: Database, description: string) =>
  unlessChanged(
    stored,
    async (header, { databaseId }) => {
      const params = { path: { databaseId }, header };
      const written = await replyWithHeaders(api.PUT(ROUTE, { params, body: { description } }));
      wrote(written.headers);
      return { description, etag: written.headers.get('etag') };
    },
    () => readDatabase(stored.databaseId),
    (one, other) => one.description !== other.description,
  );
