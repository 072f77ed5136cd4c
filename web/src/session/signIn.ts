import { isRetryable } from '../api/errors';
import { forgetPictures } from '../api/pictures';
import { configQuery, queryClient } from '../api/queries';
import { forgetWrites } from '../api/writes';
import { router } from '../router';
import { texts } from '../texts';
import { completeSignIn, endSession, renew } from './oidc';
import { exchangeOneTimeSecret, takeOneTimeSecret } from './oneTimeLink';
import { clearSession, setRenewal, session, signIn, type Credential } from './session';

export interface SignInProgress {
  state: 'ready' | 'working' | 'popup';
  failure: unknown;
  once: boolean;
  /** Uses a link again that may not have reached the server: it is no longer in the address. */
  retry?: () => void;
}

let state: SignInProgress = { state: 'ready', failure: null, once: false };
const listeners = new Set<() => void>();

/** How a sign-in that began outside of the page goes on: a one-time link, or a provider's reply. */
export const signInProgress = {
  current: (): SignInProgress => state,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

function set(next: SignInProgress): void {
  state = next;
  listeners.forEach((each) => each());
}

const fetchConfig = () => queryClient.query(configQuery);

export function startSession(): void {
  setRenewal(async () => {
    const credential = session.current().credential;
    return credential?.kind === 'provider' ? renew(await fetchConfig(), credential) : null;
  });
  const secret = takeOneTimeSecret();
  // A link pasted into an open tab changes the fragment only.
  addEventListener('hashchange', () => {
    const pasted = takeOneTimeSecret();
    if (pasted !== null) void signInByLink(pasted);
  });
  if (secret !== null) void signInByLink(secret);
  else if (new URLSearchParams(location.search).has('state')) void returnFromProvider();
}

async function signInByLink(secret: string): Promise<void> {
  set({ state: 'working', failure: null, once: true });
  try {
    const token = await exchangeOneTimeSecret(secret);
    clearUserData();
    signIn({ kind: 'key', token }, true);
    set({ state: 'ready', failure: null, once: true });
  } catch (failure) {
    const retry = isRetryable(failure) ? () => void signInByLink(secret) : undefined;
    set({ state: 'ready', failure, once: true, retry });
  }
}

async function returnFromProvider(): Promise<void> {
  set({ state: 'working', failure: null, once: false });
  try {
    const done = await completeSignIn(fetchConfig);
    if (done === 'popup') {
      set({ state: 'popup', failure: null, once: false });
      return;
    }
    if (done) {
      signIn(done.credential, true);
      router.history.replace(done.returnTo || '/ui/');
    }
    set({ state: 'ready', failure: null, once: false });
  } catch (failure) {
    set({ state: 'ready', failure, once: false });
  }
}

/** Forgets all that belongs to a user: replies, credential, and what the tab stored. */
export function clearUserData(): void {
  clearSession();
  forgetPictures();
  forgetWrites();
  queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== 'configuration' });
  queryClient.getMutationCache().clear();
  document.title = texts.product;
}

export async function signOut(): Promise<void> {
  const credential: Credential | null = session.current().credential;
  clearUserData();
  const elsewhere =
    credential?.kind === 'provider' ? await endSession(await fetchConfig(), credential) : null;
  if (elsewhere) location.assign(elsewhere);
  else void router.navigate({ to: '/', search: {}, replace: true });
}
