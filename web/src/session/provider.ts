import { loadChunk } from '../api/loadChunk';
import { texts } from '../texts';
import { definedOrNull, type Config } from './config';
import type { Credential } from './session';

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

/** Signs in again in a window of its own, so that this page keeps its state. */
export async function signInByPopup(config: Config): Promise<Credential> {
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
): Promise<{ credential: Credential; returnTo: string } | 'popup'> {
  return (await loadClient()).completeSignIn(config);
}

/** Returns a new credential by the refresh token, or null where the provider refuses it. */
export async function renew(config: Config, credential: Credential): Promise<Credential | null> {
  const client = await loadClient().catch(() => null);
  return client?.renew(config, credential) ?? null;
}

/** Ends the session at the provider: revokes the refresh token, and returns where to go next. */
export async function endSession(config: Config, credential: Credential): Promise<string | null> {
  const client = await loadClient().catch(() => null);
  return client?.endSession(config, credential) ?? null;
}
