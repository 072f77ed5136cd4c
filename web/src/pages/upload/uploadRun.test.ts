import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const POST = vi.fn();
const GET = vi.fn();
const DELETE = vi.fn(() => Promise.resolve());
const put = vi.fn((url: string) => Promise.resolve(url && 'etag'));
vi.mock('../../api/client', () => ({
  api: {
    POST: (...options: unknown[]) => POST(...options) as unknown,
    GET: (...options: unknown[]) => GET(...options) as unknown,
    DELETE: () => DELETE(),
  },
  reply: (value: unknown) => value,
  replyWithHeaders: (value: unknown) => value,
}));
vi.mock('../../api/writes', () => ({ recordWrite: () => undefined }));
vi.mock('./putPart', () => ({
  putPart: (url: string) => put(url),
}));
const sha256 = vi.fn(() => Promise.resolve('sum'));
class UnreadableFileError extends Error {}
vi.mock('./hashing', () => ({
  UnreadableFileError,
  Hashing: class {
    sha256 = () => sha256();
    md5 = (content: Blob) => Promise.resolve(`md5 of ${content.size}`);
    end = () => undefined;
  },
}));
const { UploadRun } = await import('./uploadRun');

interface Body {
  files: { relativeKey: string }[];
}

beforeEach(() => {
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('requestAnimationFrame', (act: () => void) => {
    act();
    return 0;
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.clearAllMocks();
});

/** A server that refuses some paths, each with the whole request. */
function server(refused: readonly string[]): void {
  POST.mockImplementation((route: string, { body }: { body: Body }) => {
    const paths = body.files.map((file) => file.relativeKey);
    if (route.endsWith('complete')) {
      const fileResults = paths.map((relativeKey) => ({ relativeKey, success: true }));
      return Promise.resolve({ data: { fileResults, message: '' }, headers: new Headers() });
    }
    const bad = paths.find((path) => refused.includes(path));
    if (bad) {
      const fields = [{ field: 'files.0.relativeKey', message: `${bad} is refused` }];
      return Promise.reject(new ApiError(400, 'InvalidInput', 'The request is invalid', fields));
    }
    const files = paths.map((relativeKey) => ({
      relativeKey,
      uploadIdS3: 's3',
      numParts: 1,
      partUploadUrls: [{ PartNumber: 1, UploadUrl: 'https://bucket.test/part' }],
    }));
    return Promise.resolve({ uploadId: 'u', files });
  });
}

const chosen = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ file: new File(['x'], 'x'), path: `/${at}.txt` }));

test('without a connection nothing is sent or given up, and the upload goes on with it', async () => {
  const connection = new EventTarget();
  const browser = { onLine: false };
  vi.stubGlobal('navigator', browser);
  vi.stubGlobal('addEventListener', connection.addEventListener.bind(connection));
  server([]);
  const run = new UploadRun({ databaseId: 'd', assetId: 'a' }, chosen(1), new Map());
  const started = run.start();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(POST).not.toHaveBeenCalled();
  connection.dispatchEvent(new Event('offline'));
  browser.onLine = true;
  connection.dispatchEvent(new Event('online'));
  await started;
  expect(run.progress.current().items.map((item) => item.state)).toEqual(['done']);
});

test('an upload that waits for a connection can be cancelled', async () => {
  vi.stubGlobal('navigator', { onLine: false });
  vi.stubGlobal('addEventListener', () => undefined);
  server([]);
  const run = new UploadRun({ databaseId: 'd', assetId: 'a' }, chosen(1), new Map());
  const started = run.start();
  await new Promise((resolve) => setTimeout(resolve, 20));
  run.cancel();
  await started;
  expect(POST).not.toHaveBeenCalled();
  expect(run.progress.current().items.map((item) => item.state)).toEqual(['waiting']);
});

test('a file that is refused fails by itself, and all others of its batch are uploaded', async () => {
  for (const refused of [['/0.txt'], ['/49.txt'], ['/7.txt', '/8.txt', '/61.txt']]) {
    server(refused);
    const run = new UploadRun({ databaseId: 'd', assetId: 'a' }, chosen(70), new Map());
    await run.start();
    const { items } = run.progress.current();
    const failed = items.filter((item) => item.state === 'failed');
    expect(failed.map((item) => item.path)).toEqual(refused);
    expect(failed.map((item) => item.error)).toEqual(refused.map((path) => `${path} is refused.`));
    expect(items.filter((item) => item.state === 'done').length).toBe(70 - refused.length);
  }
});

test('another try leaves out files that are refused, or not readable, as they are', async () => {
  server(['/1.txt']);
  sha256.mockRejectedValueOnce(new UnreadableFileError('Choose it again'));
  put.mockRejectedValueOnce(new Error('the storage failed'));
  const run = new UploadRun({ databaseId: 'd', assetId: 'a' }, chosen(4), new Map());
  await run.start();
  const shown = () => run.progress.current().items.map(({ state, final }) => `${state} ${final}`);
  expect(shown()).toEqual(['failed true', 'failed true', 'failed false', 'done false']);
  POST.mockClear();
  await run.start();
  expect(shown()).toEqual(['failed true', 'failed true', 'done false', 'done false']);
  const sent = POST.mock.calls.map(([, options]) => (options as { body: Body }).body.files);
  expect(sent.flat().map((file) => file.relativeKey)).toEqual(['/2.txt', '/2.txt']);
});

test('a refusal of the sender is not tried again with fewer files', async () => {
  POST.mockRejectedValue(new ApiError(403, 'Forbidden', 'You may not upload here'));
  const run = new UploadRun({ databaseId: 'd', assetId: 'a' }, chosen(10), new Map());
  await run.start();
  expect(POST).toHaveBeenCalledTimes(1);
  expect(run.progress.current().items.every((item) => item.state === 'failed')).toBe(true);
});

const MIB = 1024 * 1024;
const SIZE = 96 * MIB;
const PART = 32 * MIB;
const URLS = [1, 2, 3].map((PartNumber) => ({
  PartNumber,
  UploadUrl: `https://b.test/${PartNumber}`,
}));

/** A server that has an open upload of a large file, with these parts of it. */
function halfSent(
  storedParts: { PartNumber: number; ETag: string; Size: number }[],
  more = {},
  ids = ['open'],
): void {
  const summary = { uploadType: 'assetFile', databaseId: 'd', assetId: 'a', files: 1, size: SIZE };
  const items = [
    { ...summary, uploadId: 'other', assetId: 'b', state: 'open' },
    ...ids.map((uploadId) => ({ ...summary, uploadId, state: 'open' })),
  ];
  const file = {
    relativeKey: '/big.glb',
    state: 'open',
    file_size: SIZE,
    numParts: 3,
    uploadIdS3: 's3',
  };
  GET.mockImplementation((route: string) =>
    Promise.resolve(route === '/uploads' ? { items } : { files: [file] }),
  );
  POST.mockImplementation(
    (route: string, options: { body: { files: { partRanges?: { first: number }[] }[] } }) => {
      if (route.endsWith('complete')) {
        const fileResults = [{ relativeKey: '/big.glb', success: true }];
        return Promise.resolve({ data: { fileResults, message: '' }, headers: new Headers() });
      }
      const wanted = options.body.files[0]?.partRanges?.map((range) => range.first) ?? [1, 2, 3];
      const partUploadUrls = URLS.filter((url) => wanted.includes(url.PartNumber));
      const started = { ...file, partUploadUrls };
      if (route === '/uploads') return Promise.resolve({ uploadId: 'new', files: [started] });
      return Promise.resolve({ files: [{ ...started, storedParts, ...more }] });
    },
  );
}

async function sendBig(): Promise<{ state?: string; urls: string[]; completed: unknown }> {
  const big = new File([new Uint8Array(SIZE)], 'big.glb');
  const run = new UploadRun(
    { databaseId: 'd', assetId: 'a' },
    [{ file: big, path: '/big.glb' }],
    new Map(),
  );
  await run.start();
  const completed = POST.mock.calls.find(([route]) =>
    String(route).endsWith('complete'),
  )?.[1] as unknown;
  return {
    state: run.progress.current().items[0]?.state,
    urls: put.mock.calls.map(([url]) => url),
    completed,
  };
}

test('a large file goes on after the parts that an earlier try has stored', async () => {
  halfSent([1, 3].map((PartNumber) => ({ PartNumber, ETag: `"md5 of ${PART}"`, Size: PART })));
  const { state, urls, completed } = await sendBig();
  expect([state, urls]).toEqual(['done', ['https://b.test/2']]);
  const parts = [
    { PartNumber: 1, ETag: `md5 of ${PART}` },
    { PartNumber: 2, ETag: 'etag' },
    { PartNumber: 3, ETag: `md5 of ${PART}` },
  ];
  expect(completed).toMatchObject({
    params: { path: { uploadId: 'open' } },
    body: { files: [{ parts }] },
  });
});

test('parts of another content, of another size or none at all are sent again', async () => {
  for (const stored of [
    [{ PartNumber: 1, ETag: 'other', Size: PART }],
    [{ PartNumber: 1, ETag: `md5 of ${PART}`, Size: PART - 1 }],
    [],
  ]) {
    vi.clearAllMocks();
    halfSent(stored);
    const { state, urls, completed } = await sendBig();
    expect([state, urls.length]).toEqual(['done', 3]);
    expect(completed).toMatchObject({ params: { path: { uploadId: 'new' } } });
  }
});

test('a part that was stored incompletely is sent again, and the others are not', async () => {
  halfSent(
    [1, 2, 3].map((PartNumber) => ({
      PartNumber,
      ETag: PartNumber === 2 ? 'other' : `md5 of ${PART}`,
      Size: PART,
    })),
  );
  const { state, urls } = await sendBig();
  expect([state, urls]).toEqual(['done', ['https://b.test/2']]);
});

test('parts that the server has assembled are only completed', async () => {
  halfSent([], { assembled: true });
  const { state, urls, completed } = await sendBig();
  expect([state, urls]).toEqual(['done', []]);
  expect(completed).toMatchObject({ params: { path: { uploadId: 'open' } } });
});

test('an upload that ended meanwhile does not hide an earlier one with stored parts', async () => {
  for (const status of [400, 403, 404, 409, 410, 413]) {
    vi.clearAllMocks();
    const parts = [1, 2].map((PartNumber) => ({ PartNumber, ETag: `md5 of ${PART}`, Size: PART }));
    halfSent(parts, {}, ['ended', 'open']);
    const details = GET.getMockImplementation();
    GET.mockImplementation((route: string, options: { params: { path?: { uploadId: string } } }) =>
      options.params.path?.uploadId === 'ended'
        ? Promise.reject(new ApiError(status, 'UploadExpired', 'It has expired'))
        : (details?.(route, options) as unknown),
    );
    const { state, urls } = await sendBig();
    expect([state, urls]).toEqual(['done', ['https://b.test/3']]);
  }
});

test('files that wait for others to be sent are not shown as read', async () => {
  server([]);
  let states: string[] = [];
  put.mockImplementationOnce((url: string) => {
    states = run.progress.current().items.map((item) => item.state);
    return Promise.resolve(url && 'etag');
  });
  const run = new UploadRun({ databaseId: 'd', assetId: 'a' }, chosen(3), new Map());
  await run.start();
  expect(states).toEqual(['sending', 'waiting', 'waiting']);
});

test('an upload that ended meanwhile is started again, and a lost connection keeps what was sent', async () => {
  halfSent([]);
  GET.mockRejectedValue(new ApiError(404, 'UploadNotFound', 'There is no such upload'));
  expect((await sendBig()).state).toBe('done');
  put.mockRejectedValueOnce(new Error('the connection was lost'));
  expect((await sendBig()).state).toBe('failed');
  expect(DELETE).not.toHaveBeenCalled();
});

test('an upload that waits for a busy server is cancelled at once', async () => {
  POST.mockRejectedValue(new ApiError(429, '', 'busy', [], 600));
  const run = new UploadRun({ databaseId: 'd', assetId: 'a' }, chosen(1), new Map());
  const started = run.start();
  await new Promise((resolve) => setTimeout(resolve, 20));
  run.cancel();
  await started;
  expect(run.progress.current().running).toBe(false);
});
