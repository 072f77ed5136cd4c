import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const info = vi.fn();
vi.mock('../../api/client', () => ({
  api: {
    GET: (_: string, options: { params: { query: { filePath: string } } }) =>
      info(options.params.query.filePath) as unknown,
  },
  reply: (value: unknown) => value,
}));
vi.mock('../../api/queries', () => ({
  queryClient: { query: ({ queryFn }: { queryFn: (context: object) => unknown }) => queryFn({}) },
}));
const sha256 = vi.fn((file: File) => Promise.resolve(`sum of ${file.name}`));
vi.mock('./hashing', () => ({
  Hashing: class {
    sha256 = sha256;
    end = () => undefined;
  },
}));
const { ContentComparison, fileStatus, countStatuses } = await import('./comparison');

const place = { databaseId: 'd', assetId: 'a' };
const chosen = (path: string, content = 'x') => ({ file: new File([content], path), path });
const settled = () => vi.advanceTimersByTimeAsync(1000);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.clearAllMocks();
});

test('a file is new, replaces another one, or has to be compared', () => {
  const sizes = new Map([
    ['/a', 1],
    ['/b', 2],
  ]);
  const files = [chosen('/a'), chosen('/b'), chosen('/c'), chosen('/A')];
  const marks = files.map((file) => fileStatus(file, sizes, new Map()));
  expect(marks).toEqual(['comparing', 'replaces', 'new', 'new']);
  expect(countStatuses(marks)).toEqual({ new: 2, comparing: 1, same: 0, alike: 0, replaces: 1 });
});

test('contents are compared by SHA-256 where the server has it, and never taken as equal without', async () => {
  const files = ['/same', '/other', '/unknown', '/lost', '/unreadable'].map((path) => chosen(path));
  const replies: Record<string, () => unknown> = {
    '/same': () => ({ checksumSha256: 'sum of /same' }),
    '/other': () => ({ checksumSha256: 'sum of something else' }),
    '/unknown': () => ({ checksumSha256: null }),
    '/lost': () => Promise.reject(new Error('no connection')),
    '/unreadable': () => ({ checksumSha256: 'sum of /unreadable' }),
  };
  info.mockImplementation((path: string) => replies[path]?.());
  sha256.mockImplementation((file) =>
    file.name === '/unreadable'
      ? Promise.reject(new Error('unreadable'))
      : Promise.resolve(`sum of ${file.name}`),
  );
  const contents = new ContentComparison(place);
  const listener = vi.fn();
  contents.results.subscribe(listener);
  contents.compare(files);
  await settled();
  expect(files.map(({ file }) => contents.results.current().get(file))).toEqual([
    'same',
    'replaces',
    'alike',
    'alike',
    'alike',
  ]);
  expect(sha256).toHaveBeenCalledTimes(3);
  expect(listener).toHaveBeenCalled();
  // Files that were compared are not compared again.
  contents.compare(files);
  await settled();
  expect(info).toHaveBeenCalledTimes(5);
});

test('a few files are compared at once, and none that was removed, or after the end', async () => {
  const open: ((value: unknown) => void)[] = [];
  info.mockImplementation(() => new Promise((resolve) => open.push(resolve)));
  const contents = new ContentComparison(place);
  const files = Array.from({ length: 1000 }, (_, at) => chosen(`/${at}`));
  contents.compare(files);
  expect(info).toHaveBeenCalledTimes(4);
  contents.compare(files.slice(0, 5));
  expect(info).toHaveBeenCalledTimes(4);
  open.splice(0).forEach((resolve) => resolve({ checksumSha256: null }));
  await settled();
  expect(info.mock.calls.map(([path]) => path as string)).toEqual(['/0', '/1', '/2', '/3', '/4']);
  contents.end();
  open.splice(0).forEach((resolve) => resolve({ checksumSha256: null }));
  await settled();
  expect(contents.results.current().size).toBe(4);
});
