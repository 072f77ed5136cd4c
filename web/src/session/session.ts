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

export interface Session {
  credential: Credential | null;
  /** The server refused the credential; the page waits for a new one and keeps its state. */
  expired: boolean;
  /** How many users were forgotten: what the page shows belongs to one of them. */
  generation: number;
}

const STORED = 'vitrine.credential';
const listeners = new Set<() => void>();
let state: Session = { credential: restored(), expired: false, generation: 0 };
let renewal: (() => Promise<Credential | null>) | null = null;
let renewing: Promise<Credential | null> | null = null;

export const session = {
  current: (): Session => state,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** Starts to use a credential; `keep` lets it survive a reload of this tab. */
export function signIn(credential: Credential, keep: boolean): void {
  if (keep) sessionStorage.setItem(STORED, JSON.stringify(credential));
  else sessionStorage.removeItem(STORED);
  set({ ...state, credential, expired: false });
}

/** Forgets the credential and all that this tab stored for its user. */
export function clearSession(): void {
  sessionStorage.clear();
  set({ credential: null, expired: false, generation: state.generation + 1 });
}

/** Notes that the server refused `token`, unless a newer one is in use by now. */
export function markExpired(token: string | null): void {
  if (state.credential && state.credential.token === token) set({ ...state, expired: true });
}

/** How a provider's token is renewed; there is one while somebody is signed in with a provider. */
export function setRenewal(renew: (() => Promise<Credential | null>) | null): void {
  renewal = renew;
}

/** Returns the token to send, renewed if it ends within half a minute. */
export async function tokenForRequest(): Promise<string | null> {
  const credential = state.credential;
  if (!credential) return null;
  const ends = credential.expiresAt;
  if (ends === undefined || ends - Date.now() > 30_000 || !renewal) return credential.token;
  renewing ??= renewal().finally(() => (renewing = null));
  const renewed = await renewing;
  if (state.credential !== credential) return state.credential?.token ?? null;
  if (renewed) {
    signIn(renewed, sessionStorage.getItem(STORED) !== null);
    return renewed.token;
  }
  return credential.token;
}

function set(next: Session): void {
  state = next;
  listeners.forEach((each) => each());
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
