import createClient, { type Middleware } from 'openapi-fetch';
import { expire, session, tokenForRequest } from '../session/session';
import { ApiError, NetworkError } from './errors';
import type { paths } from './schema';

/** Adds the credential, and notes when the server no longer accepts it. */
const credentials: Middleware = {
  async onRequest({ request }) {
    const token = await tokenForRequest();
    if (token) request.headers.set('authorization', token);
    return request;
  },
  onResponse({ request, response }) {
    // The authorizer of the gateway replies 403 with this message to a credential it refuses.
    if (response.status === 401) expire(request.headers.get('authorization'));
    return response;
  },
};

export const api = createClient<paths>({ baseUrl: '/' });
api.use(credentials);

interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the body of a successful reply, or throws the server's own words. */
export async function reply<T>(sent: Promise<Result<T>>): Promise<T> {
  return (await replyWithHeaders(sent)).data;
}

/** As `reply`, with the reply's headers. */
export async function replyWithHeaders<T>(
  sent: Promise<Result<T>>,
): Promise<{ data: T; headers: Headers; status: number }> {
  const credential = session.current().credential;
  let result: Result<T>;
  try {
    result = await sent;
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === 'AbortError') throw failure;
    throw new NetworkError();
  }
  if (!result.response.ok) {
    const gateway = isForbiddenByGateway(result.response.status, result.error);
    if (gateway && credential && session.current().credential === credential)
      expire(credential.token);
    throw ApiError.of(result.response, result.error);
  }
  return {
    data: result.data as T,
    headers: result.response.headers,
    status: result.response.status,
  };
}

function isForbiddenByGateway(status: number, body: unknown): boolean {
  if (status !== 403 || typeof body !== 'object' || body === null) return false;
  return 'message' in body && body.message === 'Forbidden' && !('code' in body);
}
