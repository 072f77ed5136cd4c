import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fetchWithIdleTimeout } from './idleTimeout';

const fetched = vi.fn<(input: unknown, init: RequestInit) => Promise<Response>>();
beforeEach(() => {
  fetched.mockReset();
  vi.useFakeTimers();
  vi.stubGlobal('fetch', fetched);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A reply that ends with its request. */
const stopped = (signal: AbortSignal | null | undefined) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });

test('a request that gets no reply for a minute is lost', async () => {
  fetched.mockImplementation((_, { signal }) => stopped(signal));
  const lost = expect(fetchWithIdleTimeout('https://page.test')).rejects.toThrow(TypeError);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(fetched.mock.calls[0]?.[1].signal?.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(2_000);
  await lost;
});

test('a slow reply is read for as long as some of it arrives, and lost once nothing does', async () => {
  let parts = 4;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(to) {
      if (!parts--) return stopped(fetched.mock.calls[0]?.[1].signal);
      await new Promise((resolve) => setTimeout(resolve, 50_000));
      to.enqueue(new TextEncoder().encode('part '));
    },
  });
  fetched.mockResolvedValue(new Response(body, { headers: { etag: 'e' }, status: 201 }));
  const response = await fetchWithIdleTimeout('https://page.test');
  expect([response.status, response.headers.get('etag')]).toEqual([201, 'e']);
  const lines: string[] = [];
  const reader = response.body?.getReader();
  const read = (async () => {
    for (let next = await reader?.read(); next?.value; next = await reader?.read())
      lines.push(new TextDecoder().decode(next.value));
  })();
  const lost = expect(read).rejects.toThrow(TypeError);
  await vi.advanceTimersByTimeAsync(4 * 50_000 + 1_000);
  expect(lines.join('')).toBe('part part part part ');
  await vi.advanceTimersByTimeAsync(60_000);
  await lost;
});

test('a request that its caller stops is stopped, and a reply without a body is one', async () => {
  const ending = new AbortController();
  fetched.mockImplementation((_, { signal }) => stopped(signal));
  const sent = expect(
    fetchWithIdleTimeout('https://page.test', { signal: ending.signal }),
  ).rejects.toThrow(DOMException);
  ending.abort();
  await sent;
  fetched.mockResolvedValue(new Response(null, { status: 204 }));
  expect((await fetchWithIdleTimeout('https://page.test')).status).toBe(204);
});
