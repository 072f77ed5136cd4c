import { beforeEach, expect, test, vi } from 'vitest';
import { StorageError } from '../../api/errors';
import type { UploadTarget } from './openUploads';

const put = vi.fn<(url: string) => Promise<string>>();
const POST = vi.fn();
vi.mock('../../api/client', () => ({
  api: { POST: (...options: unknown[]) => POST(...options) as unknown },
  reply: (value: unknown) => value,
}));
vi.mock('./putPart', () => ({ putPart: (url: string) => put(url) }));
const { sendParts } = await import('./sendParts');

const file = new File(['abcdef'], 'x');
const target = (parts: number): UploadTarget => ({
  relativeKey: '/x',
  uploadIdS3: 's3',
  numParts: parts,
  partUploadUrls: Array.from({ length: parts }, (_, at) => ({
    PartNumber: at + 1,
    UploadUrl: `https://bucket.test/${at + 1}`,
  })),
  stored: [],
});
const sending = {
  uploadId: 'u',
  signal: new AbortController().signal,
  withRetries: <T>(act: () => Promise<T>) => act(),
  onProgress: () => undefined,
};
beforeEach(() => {
  put.mockReset();
  POST.mockReset();
});

test('a part whose address has ended is sent to a new one, once', async () => {
  const partUploadUrls = [{ PartNumber: 2, UploadUrl: 'https://bucket.test/later' }];
  POST.mockResolvedValue({ files: [{ partUploadUrls }] });
  put.mockImplementation((url) =>
    url.endsWith('2') ? Promise.reject(new StorageError(403)) : Promise.resolve(url.slice(-1)),
  );
  expect(await sendParts(file, target(2), sending)).toEqual([
    { PartNumber: 1, ETag: '1' },
    { PartNumber: 2, ETag: 'r' },
  ]);
  put.mockRejectedValue(new StorageError(403));
  await expect(sendParts(file, target(1), sending)).rejects.toThrow(StorageError);
});

test('after a part has failed, no other one is begun', async () => {
  put.mockRejectedValue(new StorageError(400));
  await expect(sendParts(file, target(6), sending)).rejects.toThrow(StorageError);
  await new Promise((resolve) => setTimeout(resolve));
  expect(put).toHaveBeenCalledTimes(3);
});
