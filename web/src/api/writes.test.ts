import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const stored = new Map<string, string>();
let user: string | null;
const POST = vi.fn();
vi.mock('./client', () => ({
  api: { POST: (...options: unknown[]) => POST(...options) as unknown },
  replyWithHeaders: (value: unknown) => value,
}));

/** As after a reload: nothing is in memory. */
const reloaded = async () => {
  vi.resetModules();
  return { ...(await import('./writes')), ...(await import('./search')) };
};
const written = new Headers({ 'x-sync-token': 'abc.1-2_3' });

beforeEach(() => {
  vi.useFakeTimers();
  stored.clear();
  user = JSON.stringify({ id: 'mine', user: 'ada', byProvider: false });
  vi.stubGlobal('localStorage', { getItem: () => user });
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('after a reload, searches wait for the latest write until one has seen it', async () => {
  (await reloaded()).recordWrite(written);
  const page = await reloaded();
  POST.mockResolvedValueOnce({ data: { hits: { hits: [] } }, status: 202 });
  expect((await page.search({})).lagging).toBe(true);
  POST.mockResolvedValueOnce({ data: { hits: { hits: [] } }, status: 200 });
  expect((await page.search({})).lagging).toBe(false);
  for (const [, options] of POST.mock.calls as [string, { params: object }][]) {
    expect(options.params).toEqual({ header: { 'X-After': 'abc.1-2_3' } });
  }
  expect((await reloaded()).latestWrite()).toBeNull();
});

const token = (text: string) => new Headers({ 'x-sync-token': text });

test('searches wait for all writes until one has seen them, and for the latest of very many', async () => {
  const page = await reloaded();
  page.recordWrite(token('first'));
  page.recordWrite(token('second'));
  expect(page.latestWrite()).toBe('first,second');
  expect((await reloaded()).latestWrite()).toBe('first,second');
  page.recordWrite(token('third'));
  page.markWriteSeen('first,second');
  expect(page.latestWrite()).toBe('third');
  page.markWriteSeen('other');
  for (const letter of ['a', 'b', 'c']) page.recordWrite(token(letter.repeat(1500)));
  expect(page.latestWrite()).toBe(`${'b'.repeat(1500)},${'c'.repeat(1500)}`);
  page.recordWrite(token('d'.repeat(5000)));
  expect(page.latestWrite()).toBe('d'.repeat(5000));
});

test('after a write that the server does not name, searches are repeated for some seconds', async () => {
  const page = await reloaded();
  page.recordWrite(new Headers());
  POST.mockResolvedValue({ data: { hits: { hits: [] } }, status: 200 });
  expect((await page.search({})).lagging).toBe(true);
  vi.advanceTimersByTime(5_000);
  expect((await page.search({})).lagging).toBe(false);
});

test('a write is forgotten after two minutes, and with its user', async () => {
  (await reloaded()).recordWrite(written);
  vi.advanceTimersByTime(119_000);
  expect((await reloaded()).latestWrite()).toBe('abc.1-2_3');
  vi.advanceTimersByTime(2_000);
  expect((await reloaded()).latestWrite()).toBeNull();
  (await reloaded()).recordWrite(written);
  (await reloaded()).clearWrites();
  expect(stored.size).toBe(0);
  (await reloaded()).recordWrite(written);
  user = null;
  expect((await reloaded()).latestWrite()).toBeNull();
  expect(stored.size).toBe(0);
});

test('what another program stored is no write', async () => {
  for (const text of ['', '{', '["a"]', '["a b\\n",1]', `["a",${Date.now()}`]) {
    stored.set('vitrine.write', text);
    expect((await reloaded()).latestWrite()).toBeNull();
  }
});
