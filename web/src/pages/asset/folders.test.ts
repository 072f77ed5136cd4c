import { beforeEach, expect, test, vi } from 'vitest';
import { api } from '../../api/client';
import { ApiError } from '../../api/errors';
import { cancelMove, fetchFolderContent, moveFolder } from './folders';

const { recordWrite } = vi.hoisted(() => ({ recordWrite: vi.fn() }));
vi.mock('../../api/writes', () => ({ recordWrite }));

const place = { databaseId: 'd', assetId: 'a' };
const reply = (data: unknown) => ({ data, response: new Response() });
const failure = { error: { code: 'FileExists', message: 'There is a file /n' } };

beforeEach(() => {
  vi.restoreAllMocks();
  recordWrite.mockClear();
});

test('the files of a folder are counted, page after page', async () => {
  const file = (relativePath: string, more = {}) => ({ relativePath, isFolder: false, ...more });
  const pages = [
    { items: [file('x/a'), file('x/b', { isArchived: true })], NextToken: 'next' },
    { items: [file('x/y/c'), { relativePath: 'x/y/', isFolder: true }] },
  ];
  vi.spyOn(api, 'GET').mockImplementation((() => Promise.resolve(reply(pages.shift()))) as never);
  expect(await fetchFolderContent(place, '/x/')).toEqual({ files: 2, archived: 1 });
});

test('a folder is moved by one request, whose job is followed to its end', async () => {
  const post = vi.spyOn(api, 'POST');
  post.mockImplementation((() => Promise.resolve(reply({ jobId: 'j1' }))) as never);
  const job = { jobId: 'j1', state: 'done', itemsDone: 1, itemsTotal: 2, problems: ['/x/a: no'] };
  vi.spyOn(api, 'GET').mockImplementation((() => Promise.resolve(reply(job))) as never);
  const onJob = vi.fn();
  expect(await moveFolder(place, '/x/', '/n/', onJob)).toEqual(job);
  expect(onJob.mock.calls).toEqual([[job]]);
  expect(post.mock.calls).toEqual([
    [
      '/database/{databaseId}/assets/{assetId}/moveFolder',
      { params: { path: place }, body: { sourcePath: '/x/', destinationPath: '/n/' } },
    ],
  ]);
  expect(recordWrite).toHaveBeenCalledOnce();
  await cancelMove('j1');
  expect(post.mock.lastCall).toEqual([
    '/jobs/{jobId}/cancel',
    { params: { path: { jobId: 'j1' } } },
  ]);
});

test('a refusal is thrown', async () => {
  const response = new Response(null, { status: 409 });
  const refused = () => Promise.resolve({ ...failure, response });
  vi.spyOn(api, 'POST').mockImplementation(refused);
  await expect(moveFolder(place, '/x/', '/n/', vi.fn())).rejects.toThrow(ApiError);
});
