import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError, SignedOutError } from '../../api/errors';
import { texts } from '../../texts';
import { filesTexts } from '../../texts/files';

/** The files of an asset by their paths; archived ones are false, and folders end in a slash. */
const stored = new Map<string, boolean>();
const moved = vi.fn<(from: string, to: string) => void>();
const refusals = new Map<string, unknown>();
const acts: string[] = [];

interface Query {
  prefix: string;
  includeArchived: boolean;
}

vi.mock('../../api/client', () => ({
  api: {
    GET: (_: string, { params: { query } }: { params: { query: Query } }) => ({
      items: [...stored].flatMap(([path, isShown]) =>
        path.startsWith(query.prefix) && (isShown || query.includeArchived)
          ? [
              {
                relativePath: path.slice(1),
                isFolder: path.endsWith('/'),
                isArchived: !isShown,
              },
            ]
          : [],
      ),
    }),
    POST: async (route: string, { body }: { body: Record<string, string> }) => {
      if (route.endsWith('/createFolder')) {
        acts.push(`create ${body.relativeKey}`);
        stored.set(body.relativeKey ?? '', true);
        return {};
      }
      const [from = '', to = ''] = [body.sourcePath, body.destinationPath];
      const refusal = refusals.get(from);
      if (refusal) throw refusal as Error;
      await Promise.resolve();
      moved(from, to);
      stored.set(from, false); // it remains as an archived file
      stored.set(to, true);
      return { data: {}, headers: new Headers() };
    },
    DELETE: (_: string, { body }: { body: Record<string, string> }) => {
      const path = body.filePath ?? '';
      const below = [...stored].filter(([each, isShown]) => isShown && each.startsWith(path));
      if (!below.length) throw new ApiError(404, 'FileNotFound', 'There is nothing to archive');
      acts.push(`hide ${path}`);
      return { data: {}, headers: new Headers() };
    },
  },
  reply: (value: unknown) => Promise.resolve(value),
  replyWithHeaders: (value: unknown) => Promise.resolve(value),
}));
vi.mock('../../api/jobs', () => ({ waitForWrite: () => Promise.resolve() }));
const { fetchFolderContent, moveFolder } = await import('./folders');

const place = { databaseId: 'd', assetId: 'a' };
const options = (stop = new AbortController()) => ({ signal: stop.signal, at: vi.fn() });
const shown = () => [...stored].filter(([, isShown]) => isShown).map(([path]) => path);

beforeEach(() => {
  stored.clear();
  refusals.clear();
  moved.mockReset();
  acts.length = 0;
  for (const path of ['/x/a.txt', '/x/y/b.txt', '/z/c.txt']) stored.set(path, true);
});

test('a folder has its files, those in its folders, and empty folders', async () => {
  stored.set('/x/old.txt', false);
  for (const path of ['/x/', '/x/y/', '/x/none/']) stored.set(path, true);
  expect(await fetchFolderContent(place, '/x/', true)).toEqual({
    files: ['/x/a.txt', '/x/y/b.txt'],
    archived: 1,
    empty: ['/x/none/'],
  });
});

test('all files of a folder are moved with their folders, and its progress is reported', async () => {
  const given = options();
  stored.set('/x/y/old.txt', false);
  expect(await moveFolder(place, '/x/', '/n/m/', given)).toEqual([]);
  expect(shown()).toEqual(['/z/c.txt', '/n/m/a.txt', '/n/m/y/b.txt']);
  expect(given.at.mock.calls).toEqual([
    [0, 2],
    [1, 2],
  ]);
  expect(acts).toEqual([]);
});

test('empty folders are moved, too, and the old ones hidden', async () => {
  stored.set('/x/none/', true);
  expect(await moveFolder(place, '/x/', '/n/', options())).toEqual([]);
  expect(acts).toEqual(['create /n/none/', 'hide /x/']);
});

test('each file that cannot be moved is named, and the others are moved', async () => {
  refusals.set('/x/a.txt', new ApiError(409, 'FileExists', 'The asset already has /n/a.txt'));
  expect(await moveFolder(place, '/x/', '/n/', options())).toEqual([
    { path: '/x/a.txt', reason: 'The asset already has /n/a.txt.', again: false },
  ]);
  expect(shown()).toContain('/n/y/b.txt');
  expect(acts).toEqual([]);
});

test('after the sign-in has ended nothing more is tried, and all that is left is named', async () => {
  refusals.set('/x/a.txt', new SignedOutError());
  const left = await moveFolder(place, '/x/', '/n/', options());
  expect(left.map((each) => each.path)).toEqual(['/x/a.txt', '/x/y/b.txt']);
  expect(new Set(left.map((each) => each.reason))).toEqual(new Set([texts.errors.signedOut]));
  expect(moved).not.toHaveBeenCalled();
});

test('a move that is stopped ends after the file that is being moved', async () => {
  const stop = new AbortController();
  moved.mockImplementation(() => stop.abort());
  const left = await moveFolder(place, '/x/', '/n/', options(stop));
  expect(left).toEqual([{ path: '/x/y/b.txt', reason: filesTexts.notTried, again: true }]);
});
