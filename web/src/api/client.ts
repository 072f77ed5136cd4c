import createClient, { type Middleware } from 'openapi-fetch';
import { markExpired, session, SESSION_HEADER } from '../session/session';
import { ApiError, NetworkError, SignedOutError } from './errors';
import { fetchWithIdleTimeout } from './idleTimeout';
import type { paths } from './schema';

const READS = /\/(search|previews|auth\/routes|download)$/;
const isWrite = ({ method, url }: Request): boolean =>
  !/^(GET|HEAD)$/.test(method) && !READS.test(new URL(url).pathname);
/** Replies to requests that change something. */
const writeResponses = new WeakSet<Response>();

/** Names the session of the cookie, and notes when the server no longer accepts it. */
const credentials: Middleware = {
  onRequest({ request }) {
    const { signedIn } = session.current();
    if (signedIn) request.headers.set(SESSION_HEADER, signedIn.id);
    return request;
  },
  async onResponse({ request, response }) {
    if (isWrite(request)) {
      await requireCompleteBody(response);
      writeResponses.add(response);
    }
    if (response.status === 401) markExpired(request.headers.get(SESSION_HEADER));
    return response;
  },
  onError({ request, error }) {
    const stopped = error instanceof DOMException && error.name === 'AbortError';
    return stopped ? error : new NetworkError(isWrite(request));
  },
};

export const api = createClient<paths>({ baseUrl: '/', fetch: fetchWithIdleTimeout });
api.use(credentials);

/** A reply to a change that is cut off, or is not of this server, does not name the outcome. */
async function requireCompleteBody(response: Response): Promise<void> {
  try {
    const text = await response.clone().text();
    if (response.ok && text) JSON.parse(text);
  } catch {
    throw new NetworkError(true);
  }
}

interface Result<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the body of a successful reply, or throws the server's own words. */
export async function reply<T>(request: Promise<Result<T>>): Promise<T> {
  return (await replyWithHeaders(request)).data;
}

/** As `reply`, with the reply's headers. */
export async function replyWithHeaders<T>(
  request: Promise<Result<T>>,
): Promise<{ data: T; headers: Headers; status: number }> {
  const { signedIn } = session.current();
  const result = await request.catch((failure: unknown) => {
    if (failure instanceof NetworkError || failure instanceof DOMException) throw failure;
    throw new NetworkError(); // the body of the reply is cut off
  });
  if (!result.response.ok) {
    const error = ApiError.of(result.response, result.error, writeResponses.has(result.response));
    if (error instanceof SignedOutError) markExpired(signedIn?.id ?? null);
    throw error;
  }
  return {
    data: result.data as T,
    headers: result.response.headers,
    status: result.response.status,
  };
}
