import { createStore } from '../api/createStore';
import { ApiError, NetworkError, SignedOutError } from '../api/errors';
import { fetchWithIdleTimeout } from '../api/idleTimeout';

/**
 * Who is signed in with this browser. The credential is a cookie that no script can read; all tabs
 * share the id of its session, which is no secret.
 */
export interface SignedIn {
  id: string;
  user: string;
  /** The sign-in provider has a session, too. */
  byProvider: boolean;
}

interface Session {
  signedIn: SignedIn | null;
  /** The server refused the session; the page waits for a new one and keeps its state. */
  expired: boolean;
  /** How many users were forgotten: what the page shows belongs to one of them. */
  generation: number;
}

/**
 * Names the session that the page believes in. If another tab signed in as another user, the
 * cookie belongs to that user, and the request is refused.
 */
export const SESSION_HEADER = 'x-vitrine-session';
const STORED = 'vitrine.session';
/** The event of a change of the storage by another tab. */
const CHANGED = 'storage';

export const session = createStore<Session>({
  signedIn: storedSession(),
  expired: false,
  generation: 0,
});

/** Begins a session for a credential; returns null if the server refuses it. */
export async function beginSession(
  authorization: string,
  byProvider = false,
): Promise<SignedIn | null> {
  // A header holds Latin-1 only; anything else is no key and is not sent.
  if (!/^[\x21-\x7e ]+$/.test(authorization)) return null;
  try {
    return await requestSession('/auth/session', { headers: { authorization } }, byProvider);
  } catch (error) {
    if (error instanceof SignedOutError) return null;
    throw error;
  }
}

/** Sends a request to which the server replies with a session, and with its cookie. */
export async function requestSession(
  path: string,
  init: RequestInit,
  byProvider = false,
): Promise<SignedIn> {
  let response: Response;
  try {
    response = await fetchWithIdleTimeout(path, { ...init, method: 'POST' });
  } catch {
    throw new NetworkError();
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw ApiError.of(response, body);
  // Without them, the reply is cut off, or that of another server: no one knows who the user is.
  const { sessionId: id, userId: user } = (body ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof user !== 'string') throw new NetworkError();
  return { id, user, byProvider };
}

/** Uses a session in all tabs of this browser. */
export function signIn(signedIn: SignedIn): void {
  localStorage.setItem(STORED, JSON.stringify(signedIn));
  session.set({ ...session.current(), signedIn, expired: false });
}

/** Signs out in all tabs of this browser. */
export function removeStoredSession(): void {
  localStorage.removeItem(STORED);
}

/** Forgets, in this tab, the user and all that was stored for the user. */
export function clearSession(): void {
  sessionStorage.clear();
  session.set({ signedIn: null, expired: false, generation: session.current().generation + 1 });
}

/** Notes that the server refused a session, unless a newer one is in use by now. */
export function markExpired(id: string | null): void {
  const state = session.current();
  if (state.signedIn?.id !== id) return;
  // Another tab may have signed in or out just now.
  if (storedSession()?.id === id) session.set({ ...state, expired: true });
  else dispatchEvent(new Event(CHANGED));
}

/** Continues with the session of another tab; `clear` is called if it is not the same user's. */
export function adoptSession(clear: () => void): void {
  const stored = storedSession();
  const { signedIn } = session.current();
  if (stored?.id === signedIn?.id) return;
  if (signedIn && stored?.user !== signedIn.user) clear();
  session.set({ ...session.current(), signedIn: stored, expired: false });
}

function storedSession(): SignedIn | null {
  if (typeof localStorage === 'undefined') return null;
  try {
    const value: unknown = JSON.parse(localStorage.getItem(STORED) ?? 'null');
    return isSignedIn(value) ? value : null;
  } catch {
    // Another program wrote the entry: the user signs in again.
    return null;
  }
}

function isSignedIn(value: unknown): value is SignedIn {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    typeof value.id === 'string' &&
    'user' in value &&
    typeof value.user === 'string'
  );
}
