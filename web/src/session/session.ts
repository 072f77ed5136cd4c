import { createStore } from '../api/createStore';

/**
 * Who is signed in, in this tab only. A credential is kept in memory, and in the tab's session
 * storage where the user (or the kind of sign-in) wants it to survive a reload.
 */

export interface Credential {
  kind: 'key' | 'provider';
  /** The value of the header `Authorization`. */
  token: string;
  /** When a provider's token ends, by the clock of this computer. */
  expiresAt?: number;
  refreshToken?: string;
  idToken?: string;
}

interface Session {
  credential: Credential | null;
  /** The server refused the credential; the page waits for a new one and keeps its state. */
  expired: boolean;
  /** How many users were forgotten: what the page shows belongs to one of them. */
  generation: number;
}

const STORED = 'vitrine.credential';
let renewal: (() => Promise<Credential | null>) | null = null;
let renewing: Promise<Credential | null> | null = null;

export const session = createStore<Session>({
  credential: restored(),
  expired: false,
  generation: 0,
});

/** Starts to use a credential; `keep` lets it survive a reload of this tab. */
export function signIn(credential: Credential, keep: boolean): void {
  if (keep) sessionStorage.setItem(STORED, JSON.stringify(credential));
  else sessionStorage.removeItem(STORED);
  session.set({ ...session.current(), credential, expired: false });
}

/** Forgets the credential and all that this tab stored for its user. */
export function clearSession(): void {
  sessionStorage.clear();
  session.set({ credential: null, expired: false, generation: session.current().generation + 1 });
}

/** Notes that the server refused `token`, unless a newer one is in use by now. */
export function markExpired(token: string | null): void {
  const state = session.current();
  if (state.credential?.token === token) session.set({ ...state, expired: true });
}

/** How a provider's token is renewed; there is one while someone is signed in with a provider. */
export function setRenewal(renew: (() => Promise<Credential | null>) | null): void {
  renewal = renew;
}

/** Returns the token to send, renewed if it ends within half a minute. */
export async function tokenForRequest(): Promise<string | null> {
  const credential = session.current().credential;
  if (!credential) return null;
  const ends = credential.expiresAt;
  if (ends === undefined || ends - Date.now() > 30_000 || !renewal) return credential.token;
  renewing ??= renewal().finally(() => (renewing = null));
  const renewed = await renewing;
  if (session.current().credential !== credential)
    return session.current().credential?.token ?? null;
  if (renewed) {
    signIn(renewed, sessionStorage.getItem(STORED) !== null);
    return renewed.token;
  }
  return credential.token;
}

function restored(): Credential | null {
  if (typeof sessionStorage === 'undefined') return null;
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? 'null');
    return isCredential(value) ? value : null;
  } catch {
    // Another program wrote the entry: the user signs in again.
    return null;
  }
}

function isCredential(value: unknown): value is Credential {
  return (
    typeof value === 'object' &&
    value !== null &&
    'token' in value &&
    typeof value.token === 'string' &&
    'kind' in value &&
    (value.kind === 'key' || value.kind === 'provider')
  );
}
