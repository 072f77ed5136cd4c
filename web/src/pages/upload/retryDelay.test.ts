import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const POST = vi.fn();
vi.mock('../../api/client', () => ({
  api: { POST: (...options: unknown[]) => POST(...options) as unknown },
  reply: (value: unknown) => value,
  replyWithHeaders: (value: unknown) => value,
}));
vi.mock('../../api/writes', () => ({ recordWrite: () => undefined }));
vi.mock('./putPart', () => ({ putPart: () => Promise.resolve('etag') }));
vi.mock('./hashing', () => ({
  UnreadableFileError: class extends Error {},
  Hashing: class {
    sha256 = () => Promise.resolve('sum');
    end = () => undefined;
  },
}));
const { UploadRun } = await import('./uploadRun');

const target = {
  relativeKey: '/0.txt',
  uploadIdS3: 's3',
  numParts: 1,
  partUploadUrls: [{ PartNumber: 1, UploadUrl: 'https://bucket.test/part' }],
};
const fileResults = [{ relativeKey: '/0.txt', success: true }];
const newRun = () =>
  new UploadRun(
    { databaseId: 'd', assetId: 'a' },
    [{ file: new File(['x'], 'x'), path: '/0.txt' }],
    new Map(),
  );

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('navigator', { onLine: true });
  vi.stubGlobal('requestAnimationFrame', (act: () => void) => {
    act();
    return 0;
  });
  POST.mockImplementation((route: string) =>
    Promise.resolve(
      route.endsWith('complete')
        ? { data: { fileResults, message: '' }, headers: new Headers() }
        : { uploadId: 'u', files: [target] },
    ),
  );
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('an upload says how long it waits for a busy server, and waits five minutes at most', async () => {
  for (const [after, seconds] of [
    [7, 7],
    [null, 2],
    [86_400, 300],
  ] as const) {
    POST.mockRejectedValueOnce(new ApiError(503, 'Busy', 'It is busy', [], after));
    const run = newRun();
    const started = run.start();
    await vi.advanceTimersByTimeAsync(20);
    const { busyUntil } = run.progress.current();
    expect(Math.round(((busyUntil ?? 0) - Date.now()) / 1000)).toBe(seconds);
    await vi.advanceTimersByTimeAsync(seconds * 1000);
    await started;
    expect(run.progress.current()).toMatchObject({ busyUntil: null, running: false });
    expect(run.progress.current().items[0]?.state).toBe('done');
  }
});

test('a server that failed is not called busy', async () => {
  POST.mockRejectedValueOnce(new ApiError(500, '', 'It failed'));
  const run = newRun();
  const started = run.start();
  await vi.advanceTimersByTimeAsync(20);
  expect(run.progress.current().busyUntil).toBeNull();
  await vi.advanceTimersByTimeAsync(60_000);
  await started;
});
