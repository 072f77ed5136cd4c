import { beforeEach, expect, test, vi } from 'vitest';
import { texts } from '../texts';

const fetched = vi.fn<() => Promise<Response>>();
vi.stubGlobal('fetch', fetched);
vi.stubGlobal(
  'Request',
  class extends Request {
    constructor(url: string, options: RequestInit) {
      super(new URL(url, 'https://page.test'), options);
    }
  },
);
vi.mock('../session/session', () => ({
  markExpired: () => undefined,
  session: { current: () => ({ signedIn: null }) },
}));
const { api, reply } = await import('./client');
const { errorText } = await import('./errors');

const path = { databaseId: 'd', assetId: 'a' };
const ASSET = '/database/{databaseId}/assets/{assetId}';
const asset = { databaseId: 'd', assetName: 'n', description: 'text', isDistributable: true };
const writes = [
  () => reply(api.POST('/assets', { body: { ...asset, tags: [] } })),
  () => reply(api.PUT(ASSET, { params: { path }, body: { assetName: 'n' } })),
  () => reply(api.DELETE(`${ASSET}/archiveAsset`, { params: { path } })),
];
const reads = [
  () => reply(api.GET(ASSET, { params: { path } })),
  () => reply(api.POST('/search', { body: {} })),
  () => reply(api.POST('/previews', { body: { items: [path] } })),
  () => reply(api.POST('/auth/routes', { body: { routes: [] } })),
  () =>
    reply(
      api.POST(`${ASSET}/download`, { params: { path }, body: { downloadType: 'assetPreview' } }),
    ),
];
const errorOf = (act: () => Promise<unknown>) =>
  act().then(
    () => 'a reply',
    (error: unknown) => errorText(error),
  );
beforeEach(() => {
  fetched.mockReset();
});

test('a change whose reply was lost at a gateway has an unknown outcome', async () => {
  for (const status of [500, 502, 503, 504]) {
    const lost = () => Promise.resolve(Response.json({ message: 'Gateway' }, { status }));
    fetched.mockImplementation(lost);
    for (const act of writes) expect(await errorOf(act)).toBe(texts.errors.unclear(status));
    for (const act of reads) expect(await errorOf(act)).toBe(texts.errors.failed(status));
  }
});

test('a change whose connection was lost has an unknown outcome', async () => {
  fetched.mockImplementation(() => Promise.reject(new TypeError('Failed to fetch')));
  for (const act of writes) expect(await errorOf(act)).toBe(texts.errors.networkUnclear);
  for (const act of reads) expect(await errorOf(act)).toBe(texts.errors.network);
});

test('a refusal by the product is a known outcome, and a stopped request is no failure', async () => {
  const body = { message: 'Nothing was changed', code: 'Unavailable' };
  fetched.mockImplementation(() => Promise.resolve(Response.json(body, { status: 503 })));
  for (const act of writes) expect(await errorOf(act)).toBe('Nothing was changed.');
  fetched.mockImplementation(() => Promise.reject(new DOMException('Stopped', 'AbortError')));
  await expect(writes[0]?.()).rejects.toThrow('Stopped');
});

test('a change whose reply is cut off, or is that of another server, has an unknown outcome', async () => {
  const cut = () =>
    new Response(
      new ReadableStream({
        start: (to) => to.enqueue(new TextEncoder().encode('{"assetId": ')),
        pull: (to) => to.error(new TypeError('network error')),
      }),
    );
  const portal = () => new Response('<html>Sign in to this network</html>');
  for (const made of [cut, portal]) {
    fetched.mockImplementation(() => Promise.resolve(made()));
    for (const act of writes) expect(await errorOf(act)).toBe(texts.errors.networkUnclear);
    for (const act of reads) expect(await errorOf(act)).toBe(texts.errors.network);
  }
  fetched.mockImplementation(() => Promise.resolve(new Response('<html>', { status: 502 })));
  for (const act of writes) expect(await errorOf(act)).toBe(texts.errors.unclear(502));
});
