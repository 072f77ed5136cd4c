/** Longer than a gateway waits for its server: API Gateway ends a request after half a minute. */
const IDLE_TIMEOUT = 60_000;

/** As fetch, but a connection on which nothing has arrived for a minute is lost. */
export async function fetchWithIdleTimeout(
  input: Request | string,
  { signal, ...init }: RequestInit = {},
): Promise<Response> {
  const idle = new AbortController();
  const abort = () => idle.abort(new TypeError('Nothing arrived'));
  let timer = setTimeout(abort, IDLE_TIMEOUT);
  const restartTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(abort, IDLE_TIMEOUT);
  };
  const stops = [idle.signal, signal, input instanceof Request && input.signal];
  try {
    const response = await fetch(input, {
      ...init,
      signal: AbortSignal.any(stops.filter((stop) => stop instanceof AbortSignal)),
    });
    restartTimer();
    if (!response.body) clearTimeout(timer);
    const counted = response.body?.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform: (chunk, to) => {
          restartTimer();
          to.enqueue(chunk);
        },
        flush: () => clearTimeout(timer),
      }),
    );
    return new Response(counted ?? null, response);
  } catch (error) {
    clearTimeout(timer);
    throw error;
  }
}
