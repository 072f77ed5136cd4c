import { mayPass } from '../api/errors';
import { forgetPictures } from '../api/pictures';
import { configuration, queries } from '../api/queries';
import { forgetWrites } from '../api/writes';
import { router } from '../router';
import { texts } from '../texts';
import { completeSignIn, endSession, renew } from './oidc';
import { exchange, takeSecret } from './once';
import { forget, renewWith, session, signIn, type Credential } from './session';

export interface Begin {
  state: 'ready' | 'working' | 'popup';
  failure: unknown;
  once: boolean;
  /** Uses a link again that may not have reached the server: it is no longer in the address. */
  again?: () => void;
}

let state: Begin = { state: 'ready', failure: null, once: false };
const listeners = new Set<() => void>();

/** How a sign-in that began outside of the page goes on: a one-time link, or a provider's reply. */
export const beginning = {
  current: (): Begin => state,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

function set(next: Begin): void {
  state = next;
  listeners.forEach((each) => each());
}

const config = () => queries.query(configuration);

export function begin(): void {
  renewWith(async () => {
    const credential = session.current().credential;
    return credential?.kind === 'provider' ? renew(await config(), credential) : null;
  });
  const secret = takeSecret();
  // A link pasted into an open tab changes the fragment only.
  addEventListener('hashchange', () => {
    const pasted = takeSecret();
    if (pasted !== null) void signInByLink(pasted);
  });
  if (secret !== null) void signInByLink(secret);
  else if (new URLSearchParams(location.search).has('state')) void returnFromProvider();
}

async function signInByLink(secret: string): Promise<void> {
  set({ state: 'working', failure: null, once: true });
  try {
    const token = await exchange(secret);
    wipe();
    signIn({ kind: 'key', token }, true);
    set({ state: 'ready', failure: null, once: true });
  } catch (failure) {
    const again = mayPass(failure) ? () => void signInByLink(secret) : undefined;
    set({ state: 'ready', failure, once: true, again });
  }
}

async function returnFromProvider(): Promise<void> {
  set({ state: 'working', failure: null, once: false });
  try {
    const done = await completeSignIn(config);
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
export function wipe(): void {
  forget();
  forgetPictures();
  forgetWrites();
  queries.removeQueries({ predicate: (query) => query.queryKey[0] !== 'configuration' });
  queries.getMutationCache().clear();
  document.title = texts.product;
}

export async function signOut(): Promise<void> {
  const credential: Credential | null = session.current().credential;
  wipe();
  const elsewhere =
    credential?.kind === 'provider' ? await endSession(await config(), credential) : null;
  if (elsewhere) location.assign(elsewhere);
  else void router.navigate({ to: '/', search: {}, replace: true });
}
