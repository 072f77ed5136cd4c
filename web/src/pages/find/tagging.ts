import { api, replyWithHeaders } from '../../api/client';
import { ApiError } from '../../api/errors';
import { recordWrite } from '../../api/writes';
import type { Place } from '../../api/downloads';

const CONFLICT = 412;
const TRIES = 5;

/** Adds a tag. If someone changes the asset meanwhile, it is added to what they have written. */
export async function addTag({ databaseId, assetId }: Place, tag: string): Promise<void> {
  const path = { databaseId, assetId };
  for (let attempt = 1; ; attempt++) {
    const response = await replyWithHeaders(
      api.GET('/database/{databaseId}/assets/{assetId}', { params: { path } }),
    );
    if (response.data.tags.includes(tag)) return;
    const etag = response.headers.get('etag');
    try {
      const written = await replyWithHeaders(
        api.PUT('/database/{databaseId}/assets/{assetId}', {
          params: { path, header: etag ? { 'If-Match': etag } : {} },
          body: { tags: [...response.data.tags, tag] },
        }),
      );
      recordWrite(written.headers);
      return;
    } catch (error) {
      const conflicts = error instanceof ApiError && error.status === CONFLICT;
      if (!conflicts || attempt >= TRIES) throw error;
    }
  }
}
