import { session } from '../session/session';

const STORED = 'vitrine.write';
/** Indexes hold a write after a second or two; searches need not wait for an older one. */
const MOMENT = 120_000;

/** A gateway limits all headers together to 10 kB; of more writes, the earliest are left out. */
const MOST_CHARS = 4_000;
/** A write without a token is in the indexes after a few seconds. */
const UNNAMED = 5_000;

/** The sync tokens of this tab's latest writes, until a search has seen them. */
let token: string | null = restored();
let unnamedUntil = 0;

export const latestWrite = (): string | null => token;

/** Whether the server named no documents of a write just now, which no search can wait for. */
export const hasUnnamedWrite = (): boolean => performance.now() < unnamedUntil;

export function recordWrite(headers: Headers): void {
  const written = headers.get('x-sync-token');
  if (written === null) {
    unnamedUntil = performance.now() + UNNAMED;
    return;
  }
  // One search waits for several writes: the indexes may hold the last one first.
  token = token === null ? written : `${token},${written}`;
  while (token.length > MOST_CHARS && token.includes(',')) token = token.replace(/^[^,]*,/, '');
  // For a reload: a page without a memory of the write would not say that it is not found yet.
  sessionStorage.setItem(STORED, JSON.stringify([token, Date.now()]));
}

export function markWriteSeen(syncToken: string): void {
  if (token === syncToken) clearWrites();
  // Later writes were not part of the search.
  else if (token?.startsWith(`${syncToken},`)) token = token.slice(syncToken.length + 1);
}

export function clearWrites(): void {
  token = null;
  sessionStorage.removeItem(STORED);
}

/** What a reload finds of a write that was made just now, by the user who is still signed in. */
function restored(): string | null {
  if (typeof sessionStorage === 'undefined') return null;
  const stored = sessionStorage.getItem(STORED);
  const [written, at] = /^\["([^"\\]+)",(\d+)\]$/.exec(stored ?? '')?.slice(1) ?? [];
  const isRecent = Math.abs(Date.now() - Number(at)) < MOMENT;
  if (written !== undefined && isRecent && session.current().signedIn) return written;
  sessionStorage.removeItem(STORED);
  return null;
}
