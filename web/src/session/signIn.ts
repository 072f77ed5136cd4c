import { isRetryable } from '../api/errors';
import { createStore } from '../api/createStore';
import { clearPictures } from '../api/pictures';
import { configQuery, queryClient } from '../api/queries';
import { clearWrites } from '../api/writes';
import { texts } from '../texts';
import { completeSignIn, endSession, renew } from './provider';
import { exchangeOneTimeSecret, takeOneTimeSecret } from './oneTimeLink';
import { clearSession, setRenewal, session, signIn } from './session';

interface SignInProgress {
  state: 'ready' | 'working' | 'popup';
  failure: unknown;
  once: boolean;
  /** Uses a link again that may not have reached the server: it is no longer in the address. */
  retry?: () => void;
}

/** How a sign-in that began outside of the page goes on: a one-time link, or a provider's reply. */
export const signInProgress = createStore<SignInProgress>({
  state: 'ready',
  failure: null,
  once: false,
});

const fetchConfig = () => queryClient.query(configQuery);

/** `openPage` shows the page that was requested before the provider signed the user in. */
export function startSession(openPage: (path: string) => void): void {
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
  else if (isProviderReply()) void returnFromProvider(openPage);
}

/** Whether the address is that to which a provider returns. */
function isProviderReply(): boolean {
  const query = new URLSearchParams(location.search);
  return query.has('state') && (query.has('code') || query.has('error'));
}

async function signInByLink(secret: string): Promise<void> {
  signInProgress.set({ state: 'working', failure: null, once: true });
  try {
    const token = await exchangeOneTimeSecret(secret);
    clearUserData();
    signIn({ kind: 'key', token }, true);
    signInProgress.set({ state: 'ready', failure: null, once: true });
  } catch (failure) {
    const retry = isRetryable(failure) ? () => void signInByLink(secret) : undefined;
    signInProgress.set({ state: 'ready', failure, once: true, retry });
  }
}

async function returnFromProvider(openPage: (path: string) => void): Promise<void> {
  signInProgress.set({ state: 'working', failure: null, once: false });
  try {
    const done = await completeSignIn(fetchConfig);
    if (done === 'popup') {
      signInProgress.set({ state: 'popup', failure: null, once: false });
      return;
    }
    signIn(done.credential, true);
    openPage(done.returnTo || '/ui/');
    signInProgress.set({ state: 'ready', failure: null, once: false });
  } catch (failure) {
    signInProgress.set({ state: 'ready', failure, once: false });
  }
}

/** Forgets all that belongs to a user: replies, credential, and what the tab stored. */
export function clearUserData(): void {
  clearSession();
  clearPictures();
  clearWrites();
  queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== 'configuration' });
  queryClient.getMutationCache().clear();
  document.title = texts.product;
}

/** Signs out. Returns where the provider ends its session, if it has one. */
export async function signOut(): Promise<string | null> {
  const { credential } = session.current();
  clearUserData();
  return credential?.kind === 'provider' ? endSession(await fetchConfig(), credential) : null;
}
