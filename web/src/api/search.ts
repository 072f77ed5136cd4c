import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, reply, replyWithHeaders } from './client';
import { SOURCE_FIELDS } from './hits';
import { heldPreviews, withPreviews } from './pictures';
import type { components } from './schema';
import { hasUnnamedWrite, latestWrite, markWriteSeen } from './writes';

export type SearchBody = components['schemas']['SearchBody'];
export type SearchReply = components['schemas']['SearchReply'];

export interface SearchResult {
  reply: SearchReply;
  /** The indexes may not hold this tab's latest writes yet. */
  lagging: boolean;
}

const POLL_INTERVAL = 1_500;

/** Searches again until the latest write is found. */
export const pollWhileLagging = (result: { lagging: boolean } | undefined): number | false =>
  result?.lagging ? POLL_INTERVAL : false;

/** Searches, and waits a few seconds for the latest writes of this tab. */
export async function search(request: SearchBody, signal?: AbortSignal): Promise<SearchResult> {
  const named = request.previews ? heldPreviews() : [];
  const body = {
    ...request,
    sourceFields: [...SOURCE_FIELDS, ...(request.sourceFields ?? [])],
    heldPreviews: named.map(({ id }) => id),
  };
  const write = latestWrite();
  const { data, status } = await replyWithHeaders(
    api.POST('/search', { body, params: { header: write ? { 'X-After': write } : {} }, signal }),
  );
  if (status === 200 && write) markWriteSeen(write);
  const hits = { ...data.hits, hits: withPreviews(data.hits.hits, named) };
  return { reply: { ...data, hits }, lagging: status === 202 || hasUnnamedWrite() };
}

/** Names, tags, metadata keys and values that begin with some words. */
export const suggestionsQuery = (q: string) =>
  queryOptions({
    queryKey: ['suggest', q],
    queryFn: ({ signal }) =>
      reply(api.GET('/search/suggest', { params: { query: { q } }, signal })),
    placeholderData: keepPreviousData,
  });

/** The server refuses to suggest anything for signs alone, and for very long texts. */
export const hasSuggestions = (q: string): boolean => /[\p{L}\p{N}]/u.test(q) && q.length <= 200;
