import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const GET = vi.fn();
const PUT = vi.fn();
vi.mock('../../api/client', () => ({
  api: {
    GET: (...options: unknown[]) => GET(...options) as unknown,
    PUT: (...options: unknown[]) => PUT(...options) as unknown,
  },
  replyWithHeaders: (value: unknown) => value,
}));
vi.mock('../../api/writes', () => ({ recordWrite: () => undefined }));
const { mergeDraft, saveAsset } = await import('./editAsset');

const place = { databaseId: 'd', assetId: 'a' };
const before = { assetName: 'Chair', description: 'A chair', tags: ['wood'] };
const stored = { ...before, etag: '"1"' } as Parameters<typeof saveAsset>[1];
const refusal = (status: number) => Promise.reject(new ApiError(status, 'Code', 'Refused'));
afterEach(() => vi.clearAllMocks());

test('fields that only one of two people changed have their value', () => {
  const mine = { ...before, assetName: 'Old chair' };
  const theirs = { ...before, description: 'Theirs', tags: ['wood', 'oak'] };
  expect(mergeDraft(mine, before, theirs)).toEqual({
    draft: { assetName: 'Old chair', description: 'Theirs', tags: ['wood', 'oak'] },
    conflicts: [],
  });
});

test('a field that both changed keeps what the user typed, and is a conflict', () => {
  const mine = { ...before, assetName: 'Old chair', tags: ['wood', 'mine'] };
  const theirs = { ...before, assetName: 'New chair', tags: ['theirs'] };
  expect(mergeDraft(mine, before, theirs)).toEqual({
    draft: mine,
    conflicts: ['assetName', 'tags'],
  });
});

test('both changed a field in the same way: there is nothing to decide', () => {
  const mine = { ...before, assetName: 'Stool', tags: ['oak', 'wood'] };
  expect(
    mergeDraft(mine, before, { ...before, assetName: 'Stool ', tags: ['wood', 'oak'] }),
  ).toEqual({
    draft: mine,
    conflicts: [],
  });
});

test('only changed fields are written, under the version that was read', async () => {
  PUT.mockResolvedValue({ data: {}, headers: new Headers({ etag: '"2"' }) });
  const saved = await saveAsset(place, stored, { ...before, assetName: ' Stool ' });
  expect(PUT.mock.calls[0]?.[1]).toEqual({
    params: { path: place, header: { 'If-Match': '"1"' } },
    body: { assetName: 'Stool' },
  });
  expect(saved).toEqual({ saved: { ...stored, assetName: 'Stool', etag: '"2"' } });
});

test('a change by someone else returns what is stored now', async () => {
  for (const status of [412, 409]) {
    PUT.mockReturnValue(refusal(status));
    const theirs = { ...before, description: 'Theirs' };
    GET.mockResolvedValue({ data: theirs, headers: new Headers({ etag: '"7"' }) });
    expect(await saveAsset(place, stored, { ...before, assetName: 'x' })).toEqual({
      theirs: { ...theirs, etag: '"7"' },
    });
  }
});

test('a change of the server of what no one edits is no conflict', async () => {
  GET.mockResolvedValue({ data: before, headers: new Headers({ etag: '"2"' }) });
  PUT.mockReturnValueOnce(refusal(412));
  PUT.mockResolvedValue({ data: {}, headers: new Headers({ etag: '"3"' }) });
  expect(await saveAsset(place, stored, { ...before, assetName: 'x' })).toEqual({
    saved: { ...before, assetName: 'x', etag: '"3"' },
  });
});

test('any other refusal is reported, also a conflict with something else', async () => {
  GET.mockResolvedValue({ data: before, headers: new Headers({ etag: '"1"' }) });
  for (const status of [409, 400, 403, 404]) {
    PUT.mockReturnValue(refusal(status));
    await expect(saveAsset(place, stored, { ...before, assetName: 'x' })).rejects.toThrow(
      'Refused',
    );
  }
});
