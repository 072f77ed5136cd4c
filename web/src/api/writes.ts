import { session } from '../session/session';

const STORED = 'vitrine.write';
/** Indexes hold a write after a second or two; searches need not wait for an older one. */
const MOMENT = 120_000;

/** The sync token of this tab's latest write, until a search has seen that write. */
let token: string | null = restored();

export const latestWrite = (): string | null => token;

export function wrote(headers: Headers): void {
  const written = headers.get('x-sync-token');
  if (written === null) return;
  token = written;
  // For a reload: a page without a memory of the write would not say that it is not found yet.
  sessionStorage.setItem(STORED, JSON.stringify([written, Date.now()]));
}

export function seenWrite(seen: string): void {
  if (token === seen) forgetWrites();
}

export function forgetWrites(): void {
  token = null;
  sessionStorage.removeItem(STORED);
}

/** What a reload finds of a write that was made just now, by the user who is still signed in. */
function restored(): string | null {
  if (typeof sessionStorage === 'undefined') return null;
  const stored = sessionStorage.getItem(STORED);
  const [written, at] = /^\["([^"\\]+)",(\d+)\]$/.exec(stored ?? '')?.slice(1) ?? [];
  const isRecent = Math.abs(Date.now() - Number(at)) < MOMENT;
  if (written !== undefined && isRecent && session.current().credential) return written;
  sessionStorage.removeItem(STORED);
  return null;
}
