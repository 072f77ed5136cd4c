import { api, replyWithHeaders } from './client';
import type { components } from './schema';
import { hasUnnamedWrite, latestWrite, seenWrite } from './writes';

export type SearchBody = components['schemas']['SearchBody'];
export type SearchReply = components['schemas']['SearchReply'];

export interface Found {
  reply: SearchReply;
  /** The indexes may not hold this tab's latest writes yet. */
  lagging: boolean;
}

const SOON = 1_500;

/** Searches again until the latest write is found. */
export const untilFound = (found: { lagging: boolean } | undefined): number | false =>
  found?.lagging ? SOON : false;

/** Searches, and waits a few seconds for the latest writes of this tab. */
export async function search(body: SearchBody, signal?: AbortSignal): Promise<Found> {
  const write = latestWrite();
  const { data, status } = await replyWithHeaders(
    api.POST('/search', { body, params: { header: write ? { 'X-After': write } : {} }, signal }),
  );
  if (status === 200 && write) seenWrite(write);
  return { reply: data, lagging: status === 202 || hasUnnamedWrite() };
}
