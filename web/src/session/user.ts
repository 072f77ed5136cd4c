import { ApiError, NetworkError } from '../api/errors';
import { fetchWithIdleTimeout } from '../api/idleTimeout';

/** Returns the user of a credential, or null if the server refuses it. */
export async function fetchUserName(token: string): Promise<string | null> {
  // A header holds Latin-1 only; anything else is no key and is not sent.
  if (!/^[\x21-\x7e ]+$/.test(token)) return null;
  let response: Response;
  try {
    response = await fetchWithIdleTimeout('/auth/routes', {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/json' },
      body: '{"routes":[]}',
    });
  } catch {
    throw new NetworkError();
  }
  if (response.status === 401 || response.status === 403) return null;
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw ApiError.of(response, body);
  // Without it, the reply is cut off, or that of another server: no one knows who the user is.
  const name = typeof body === 'object' && body !== null && 'email' in body && body.email;
  if (typeof name !== 'string') throw new NetworkError();
  return name;
}
