import { ApiError, NetworkError } from '../api/errors';
import { fetchWithIdleTimeout } from '../api/idleTimeout';

/** Takes the secret of a one-time link out of the address, so that it is in no history entry. */
export function takeOneTimeSecret(): string | null {
  const secret = new URLSearchParams(location.hash.slice(1)).get('once');
  if (secret !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return secret;
}

/** Exchanges the secret for the administrator's key; a secret is accepted once. */
export async function exchangeOneTimeSecret(secret: string): Promise<string> {
  let response: Response;
  try {
    response = await fetchWithIdleTimeout('/ui/once', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret }),
    });
  } catch {
    throw new NetworkError();
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw ApiError.of(response, body);
  if (typeof body === 'object' && body !== null && 'key' in body && typeof body.key === 'string') {
    return body.key;
  }
  throw new ApiError(response.status, '', '');
}
