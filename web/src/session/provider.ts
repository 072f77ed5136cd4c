import { loadChunk } from '../api/loadChunk';
import { texts } from '../texts';
import { definedOrNull, type Config } from './config';

export const offersProvider = (config: Config): boolean =>
  Boolean(
    definedOrNull(config.externalOAuthIdpURL) && definedOrNull(config.externalOAuthIdpClientId),
  );

/** The client of OpenID Connect: loaded by those only who sign in with a provider. */
const loadClient = () => loadChunk(() => import('./oidc'));

/** Sends the browser to the provider; it returns to the page's root with a code. */
export async function redirectToProvider(config: Config, returnTo: string): Promise<void> {
  return (await loadClient()).redirectToProvider(config, returnTo);
}

/** Signs in again in a window of its own, so that this page keeps its state; returns the token. */
export async function signInByPopup(config: Config): Promise<string> {
  // Opened before anything is awaited: later, a browser would block it.
  const popup = open('about:blank', '_blank', 'popup,width=520,height=680');
  if (!popup) throw new Error(texts.signIn.popupBlocked);
  try {
    return await (await loadClient()).signInByPopup(config, popup);
  } catch (error) {
    popup.close();
    throw error;
  }
}

/** Handles the return from the provider. */
export async function completeSignIn(
  config: () => Promise<Config>,
): Promise<{ token: string; returnTo: string } | 'popup'> {
  return (await loadClient()).completeSignIn(config);
}

/** Returns where the provider ends its own session. */
export async function providerSignOutUrl(config: Config): Promise<string | null> {
  const client = await loadClient().catch(() => null);
  return client?.signOutUrl(config) ?? null;
}
