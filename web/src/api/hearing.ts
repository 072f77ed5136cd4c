/** Longer than a gateway waits for its server: API Gateway ends a request after half a minute. */
const SILENCE = 60_000;

/** As fetch, but a connection on which nothing has arrived for a minute is lost. */
export async function fetchHeard(
  input: Request | string,
  { signal, ...init }: RequestInit = {},
): Promise<Response> {
  const silent = new AbortController();
  const lose = () => silent.abort(new TypeError('Nothing arrived'));
  let timer = setTimeout(lose, SILENCE);
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(lose, SILENCE);
  };
  const stops = [silent.signal, signal, input instanceof Request && input.signal];
  try {
    const response = await fetch(input, {
      ...init,
      signal: AbortSignal.any(stops.filter((each) => each instanceof AbortSignal)),
    });
    heard();
    if (!response.body) clearTimeout(timer);
    const counted = response.body?.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform: (part, to) => {
          heard();
          to.enqueue(part);
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
