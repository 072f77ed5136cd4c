import { api, replyWithHeaders } from '../../api/client';
import { ApiError } from '../../api/errors';
import { recordWrite } from '../../api/writes';
import type { Place } from '../../api/downloads';

const CONFLICT = 412;
const TRIES = 5;

export const addTag = (place: Place, tag: string): Promise<void> =>
  changeTags(place, (tags) => (tags.includes(tag) ? tags : [...tags, tag]));

export const removeTag = (place: Place, tag: string): Promise<void> =>
  changeTags(place, (tags) => tags.filter((other) => other !== tag));

/** Changes the tags. If someone changes the asset meanwhile, what they have written is changed. */
async function changeTags(
  { databaseId, assetId }: Place,
  change: (tags: string[]) => string[],
): Promise<void> {
  const path = { databaseId, assetId };
  for (let attempt = 1; ; attempt++) {
    const response = await replyWithHeaders(
      api.GET('/database/{databaseId}/assets/{assetId}', { params: { path } }),
    );
    const tags = change(response.data.tags);
    if (tags.length === response.data.tags.length) return;
    const etag = response.headers.get('etag');
    try {
      const written = await replyWithHeaders(
        api.PUT('/database/{databaseId}/assets/{assetId}', {
          params: { path, header: etag ? { 'If-Match': etag } : {} },
          body: { tags },
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
