import { requestSession, type SignedIn } from './session';

/** Takes the secret of a one-time link out of the address, so that it is in no history entry. */
export function takeOneTimeSecret(): string | null {
  const secret = new URLSearchParams(location.hash.slice(1)).get('once');
  if (secret !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return secret;
}

/** Exchanges the secret for a session of the administrator; a secret is accepted once. */
export const exchangeOneTimeSecret = (secret: string): Promise<SignedIn> =>
  requestSession('/ui/once', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret }),
  });
