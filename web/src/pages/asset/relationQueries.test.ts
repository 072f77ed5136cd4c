import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const GET = vi.fn();
const POST = vi.fn();
vi.mock('../../api/client', () => ({
  api: {
    GET: (...options: unknown[]) => GET(...options) as unknown,
    POST: (...options: unknown[]) => POST(...options) as unknown,
  },
  reply: (value: unknown) => value,
}));
const relations = await import('./relationQueries');
const {
  toLinkedItems,
  itemKey,
  linksQuery,
  missingReferencesQuery,
  picturesQuery,
  referencesQuery,
  similarFilesQuery,
  dependentsQuery,
  parentsQuery,
} = relations;

const place = { databaseId: 'd', assetId: 'a' };
const queries = [
  referencesQuery(place, '/a.gltf'),
  missingReferencesQuery(place),
  dependentsQuery(place, '/a.bin'),
  linksQuery(place),
  similarFilesQuery(place, '/a.glb'),
  picturesQuery([{ ...place, name: 'A' }]),
];
const run = (query: (typeof queries)[number]) => (query.queryFn as () => Promise<unknown>)();
afterEach(() => vi.resetAllMocks());

test('a part of the page that the caller may not see is left out, and other failures are thrown', async () => {
  for (const status of [403, 404]) {
    const refusal = () => Promise.reject(new ApiError(status, 'PermissionDenied', 'You may not'));
    GET.mockImplementation(refusal);
    POST.mockImplementation(refusal);
    const empty = { parents: [], children: [], related: [] };
    expect(await Promise.all(queries.map(run))).toEqual([
      null,
      new Map(),
      [],
      empty,
      [],
      new Map(),
    ]);
  }
  const refusal = () => Promise.reject(new ApiError(409, 'AttributesNotIndexed', 'Reindex first'));
  GET.mockImplementation(refusal);
  POST.mockImplementation(refusal);
  for (const query of queries) await expect(run(query)).rejects.toThrow('Reindex first');
});

test('a file lacks what is missing, absolute or outside the asset, and nothing else', async () => {
  const states = ['found', 'missing', 'absolute', 'otherCase', 'outside', 'external', 'embedded'];
  const references = states.map((state) => ({ path: 'x', kind: 'texture', state }));
  const reference = [{ path: 'x', kind: 'texture', state: 'found' }];
  const items = [
    { filePath: '/bad.gltf', references },
    { filePath: '/good.gltf', references: reference },
  ];
  GET.mockResolvedValue({ items });
  expect(await run(missingReferencesQuery(place))).toEqual(new Map([['/bad.gltf', 3]]));
});

test('the files that refer to a file or into a folder are read from all pages', async () => {
  const pages = [{ items: [], NextToken: 'next' }, { items: [{ filePath: '/a.gltf' }] }];
  GET.mockImplementation(() => Promise.resolve(pages.shift()));
  expect(await run(dependentsQuery(place, '/parts/'))).toEqual(['/a.gltf']);
  const queries = GET.mock.calls.map((call) => (call[1] as { params: { query: object } }).params);
  expect(queries.map(({ query }) => query)).toMatchObject([
    { filePath: '/parts', isPrefix: true, startingToken: undefined },
    { filePath: '/parts', isPrefix: true, startingToken: 'next' },
  ]);
});

test('assets that consist of some others are named once, and not if they are among them', async () => {
  const whole = (assetId: string) => ({ databaseId: 'd', assetId, assetName: `the ${assetId}` });
  const parents = new Map([
    ['wheel', [whole('car'), whole('cart')]],
    ['car', [whole('fleet')]],
  ]);
  GET.mockImplementation((_: string, { params }: { params: { path: { assetId: string } } }) =>
    Promise.resolve({ parents: parents.get(params.path.assetId) ?? [] }),
  );
  const places = ['wheel', 'car', 'lamp'].map((assetId) => ({ databaseId: 'd', assetId }));
  expect(await (parentsQuery(places).queryFn as () => Promise<unknown>)()).toEqual([
    'the cart',
    'the fleet',
  ]);
});

test('an asset with several links is shown once, with the aliases of all', () => {
  const link = (assetId: string, alias: string | null) => ({
    databaseId: 'd',
    assetId,
    assetName: assetId,
    assetLinkId: 'l',
    assetLinkAliasId: alias,
  });
  const links = [link('a', 'left'), link('b', null), link('a', 'right')];
  expect(toLinkedItems(links).map((item) => [item.name, item.note])).toEqual([
    ['a', 'left, right'],
    ['b', ''],
  ]);
});

test('of another asset the most similar file is shown, and shapes that are hardly alike are not', async () => {
  const similarFile = (assetId: string, filePath: string, similarity: number) => ({
    ...place,
    assetName: assetId,
    assetId,
    filePath,
    similarity,
  });
  const items = [
    similarFile('a', '/a.stl', 1),
    similarFile('b', '/b.glb', 0.9),
    similarFile('b', '/b.obj', 0.9),
    similarFile('a', '/a.obj', 0.8),
    similarFile('c', '/c.glb', 0.24),
  ];
  GET.mockResolvedValue({ items });
  const shown = (await run(similarFilesQuery(place, '/a.glb'))) as typeof items;
  expect(shown.map((file) => file.filePath)).toEqual(['/a.stl', '/b.glb', '/a.obj']);
});

test('pictures are requested by path and found again by asset and path', async () => {
  const items = [
    { ...place, name: 'A' },
    { ...place, name: 'B', path: '/b.glb' },
  ];
  const preview = { id: 'p', url: 'http://x', expiresAt: '' };
  POST.mockResolvedValue({ items: [{ ...place, key: '/b.glb', preview }] });
  const pictures = (await run(picturesQuery(items))) as Map<string, unknown>;
  expect(POST.mock.calls[0]?.[1]).toEqual({
    body: { items: [{ ...place }, { ...place, key: '/b.glb' }] },
  });
  expect(items.map((item) => pictures.get(itemKey(item)))).toEqual([
    undefined,
    { ...place, key: '/b.glb', preview },
  ]);
});
