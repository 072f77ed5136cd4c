import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const POST = vi.fn();
const put = vi.fn(() => Promise.resolve('etag'));
vi.mock('../../api/client', () => ({
  api: { POST: (...given: unknown[]) => POST(...given) as unknown, DELETE: vi.fn(), GET: vi.fn() },
  reply: (value: unknown) => value,
  replyWithHeaders: (value: unknown) => value,
}));
vi.mock('../../api/writes', () => ({ wrote: () => undefined }));
vi.mock('./storage', () => ({ put: () => put(), StorageError: class extends Error {} }));
vi.mock('./hashing', () => ({
  Hashing: class {
    sha256 = () => Promise.resolve('sum');
    end = () => undefined;
  },
}));
const { Run } = await import('./run');

interface Body {
  files: { relativeKey: string }[];
}

beforeEach(() => {
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
    const paths = body.files.map((each) => each.relativeKey);
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

test('a file that is refused fails by itself, and all others of its batch are uploaded', async () => {
  for (const refused of [['/0.txt'], ['/49.txt'], ['/7.txt', '/8.txt', '/61.txt']]) {
    server(refused);
    const run = new Run({ databaseId: 'd', assetId: 'a' }, chosen(70), new Map());
    await run.start();
    const { items } = run.current();
    const failed = items.filter((each) => each.state === 'failed');
    expect(failed.map((each) => each.path)).toEqual(refused);
    expect(failed.map((each) => each.error)).toEqual(refused.map((each) => `${each} is refused`));
    expect(items.filter((each) => each.state === 'done').length).toBe(70 - refused.length);
  }
});

test('a refusal of the sender is not tried again with fewer files', async () => {
  POST.mockRejectedValue(new ApiError(403, 'Forbidden', 'You may not upload here'));
  const run = new Run({ databaseId: 'd', assetId: 'a' }, chosen(10), new Map());
  await run.start();
  expect(POST).toHaveBeenCalledTimes(1);
  expect(run.current().items.every((each) => each.state === 'failed')).toBe(true);
});
