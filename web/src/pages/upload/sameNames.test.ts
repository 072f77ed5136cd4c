import { expect, test } from 'vitest';
import { findSameNames } from './sameNames';

const local = (path: string, folder?: string) => ({ file: new File([], ''), path, folder });

test('a single file is asked about if its name is only at other paths', () => {
  const sizes = new Map(
    ['/b/x.txt', '/a/x.txt', '/y.txt', '/papers/z.txt'].map((path) => [path, 1]),
  );
  const files = ['/x.txt', '/y.txt', '/new.txt', '/in/z.txt'].map((path) => local(path));
  expect(findSameNames(files, sizes)).toEqual([
    { local: files[0], paths: ['/a/x.txt', '/b/x.txt'] },
  ]);
  const inFolder = [local('/in/z.txt'), local('/in/deep/y.txt')];
  expect(findSameNames(inFolder, sizes, '/in/')).toEqual([
    { local: inFolder[0], paths: ['/papers/z.txt'] },
  ]);
  expect(findSameNames([local('/x.txt', 'scans')], sizes)).toEqual([]);
});
