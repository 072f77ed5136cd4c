import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const GET = vi.fn();
const PUT = vi.fn();
const POST = vi.fn();
vi.mock('../../api/client', () => ({
  api: {
    GET: (...options: unknown[]) => GET(...options) as unknown,
    PUT: (...options: unknown[]) => PUT(...options) as unknown,
    POST: (...options: unknown[]) => POST(...options) as unknown,
  },
  reply: (value: unknown) => value,
  replyWithHeaders: (value: unknown) => value,
}));
vi.mock('../../api/writes', () => ({ recordWrite: () => undefined, latestWrite: () => 'token' }));
const { saveDescription, newestAssetsQuery } = await import('./queries');

type Database = Parameters<typeof saveDescription>[0];
const stored = { databaseId: 'museum', description: 'As it was', etag: '"1"' } as Database;
const read = (data: object, etag: string) => ({ data, headers: new Headers({ etag }) });
const changed = () => Promise.reject(new ApiError(412, 'PreconditionFailed', 'It was changed'));
afterEach(() => vi.resetAllMocks());

test('a description is written under the version that was read', async () => {
  PUT.mockResolvedValue(read({}, '"2"'));
  expect(await saveDescription(stored, 'Mine')).toEqual({
    saved: { ...stored, description: 'Mine', etag: '"2"' },
  });
  expect(PUT.mock.calls[0]?.[1]).toEqual({
    params: { path: { databaseId: 'museum' }, header: { 'If-Match': '"1"' } },
    body: { description: 'Mine' },
  });
});

test('what someone else has written is returned, and nothing is overwritten', async () => {
  PUT.mockImplementation(changed);
  GET.mockResolvedValue(read({ ...stored, description: 'Theirs' }, '"2"'));
  expect(await saveDescription(stored, 'Mine')).toEqual({
    theirs: { ...stored, description: 'Theirs', etag: '"2"' },
  });
  expect(PUT).toHaveBeenCalledTimes(1);
});

test('a change of another setting is no conflict', async () => {
  PUT.mockImplementationOnce(changed).mockResolvedValue(read({}, '"3"'));
  GET.mockResolvedValue(read({ ...stored, processing: false }, '"2"'));
  expect(await saveDescription(stored, 'Mine')).toEqual({
    saved: { ...stored, processing: false, description: 'Mine', etag: '"3"' },
  });
});

test('the newest assets of a database are searched in it alone, without what is not shown', async () => {
  POST.mockResolvedValue({ data: { hits: { hits: [] } }, status: 202 });
  const { queryFn } = newestAssetsQuery('museum');
  const result = await (queryFn as unknown as (context: object) => Promise<unknown>)({});
  expect(result).toEqual({ items: [], lagging: true });
  expect(POST.mock.calls[0]?.[1]).toMatchObject({ params: { header: { 'X-After': 'token' } } });
  expect((POST.mock.calls[0]?.[1] as { body: object }).body).toMatchObject({
    facetChoices: [{ facet: 'str_databaseid', values: ['museum'] }],
    sort: [{ field: 'date_lastmodified', order: 'desc' }],
    size: 24,
    foldFiles: true,
    aggregations: false,
    histograms: [],
    metadataFacets: [],
  });
});
