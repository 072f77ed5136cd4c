import { resetColumns } from '../api/columns';
import { api, reply } from '../api/client';
import { ApiError, isRetryable } from '../api/errors';
import { createStore } from '../api/createStore';
import { clearPictures } from '../api/pictures';
import { configQuery, queryClient } from '../api/queries';
import { clearWrites } from '../api/writes';
import { texts } from '../texts';
import { completeSignIn, providerSignOutUrl } from './provider';
import { exchangeOneTimeSecret, takeOneTimeSecret } from './oneTimeLink';
import {
  adoptSession,
  beginSession,
  clearSession,
  removeStoredSession,
  session,
  signIn,
  type SignedIn,
} from './session';

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
  const adopt = () => adoptSession(clearUserData);
  addEventListener('storage', adopt);
  // A page that the way back shows again has received no events of storage.
  addEventListener('pageshow', adopt);
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

/** Uses a session; nothing of another user remains on the page. */
export function switchTo(next: SignedIn): void {
  const { signedIn } = session.current();
  if (signedIn && signedIn.user !== next.user) clearUserData();
  signIn(next);
}

async function signInByLink(secret: string): Promise<void> {
  signInProgress.set({ state: 'working', failure: null, once: true });
  try {
    switchTo(await exchangeOneTimeSecret(secret));
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
    switchTo(await beginProviderSession(done.token));
    openPage(done.returnTo || '/ui/');
    signInProgress.set({ state: 'ready', failure: null, once: false });
  } catch (failure) {
    signInProgress.set({ state: 'ready', failure, once: false });
  }
}

/** Begins a session for a provider's token. */
export async function beginProviderSession(token: string): Promise<SignedIn> {
  const signedIn = await beginSession(token, true);
  if (!signedIn) throw new Error(texts.signIn.refusedToken);
  return signedIn;
}

/** Forgets all that belongs to a user: replies, and what the tab stored. */
export function clearUserData(): void {
  clearSession();
  clearPictures();
  clearWrites();
  resetColumns();
  queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== 'configuration' });
  queryClient.getMutationCache().clear();
  document.title = texts.product;
}

/** Signs out. Returns where the provider ends its session, if it has one. */
export async function signOut(): Promise<string | null> {
  const { signedIn } = session.current();
  try {
    await reply(api.DELETE('/auth/session'));
  } catch (error) {
    // A session that has ended, in whatever way, is what was wanted.
    if (!(error instanceof ApiError) || isRetryable(error)) throw error;
  }
  removeStoredSession();
  clearUserData();
  return signedIn?.byProvider ? providerSignOutUrl(await fetchConfig()) : null;
}
