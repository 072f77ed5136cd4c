import { expect, test } from 'vitest';
import { filesTexts } from '../../texts/files';
import { actsOf, destinationOf, draftOf, foldersOf, refusal, stemOf } from './changes';

const file = (path: string, isArchived = false) => ({ path, isArchived });

test('a file is offered what the API can do with it, a folder and an archived file less', () => {
  expect(actsOf(file('/a.glb'))).toEqual(['rename', 'move', 'copy', 'archive', 'delete']);
  expect(actsOf(file('/a.glb', true))).toEqual(['restore', 'delete']);
  expect(actsOf(file('/parts/'))).toEqual(['rename', 'move', 'archive', 'delete']);
});

test('what is not changed of a path stays as it is', () => {
  const paths = ['/a', '/a.glb', '/x/y/a b.tar.gz', '/ x /.hidden', '/x/ a.txt ', '/😀/مرحبا.txt'];
  for (const path of paths) {
    for (const act of ['rename', 'move'] as const) {
      expect(destinationOf(draftOf(act, file(path)))).toBe(path);
    }
    expect(stemOf(path).join('')).toBe(path);
  }
});

test('a copy in the same folder has another name from the start, with the same extension', () => {
  for (const [path, copied] of [
    ['/a.glb', '/a copy.glb'],
    ['/x/y/a', '/x/y/a copy'],
    ['/x/.hidden', '/x/.hidden copy'],
  ] as const) {
    const draft = draftOf('copy', file(path));
    expect(destinationOf(draft)).toBe(copied);
    expect(refusal(draft, file(path))).toBeNull();
  }
});

test('slashes around a folder and repeated ones do not matter', () => {
  for (const folder of ['x/y', '/x/y', 'x/y/', '//x//y//']) {
    expect(destinationOf({ name: 'a.glb', folder, target: null })).toBe('/x/y/a.glb');
  }
  expect(destinationOf({ name: 'a.glb', folder: '/', target: null })).toBe('/a.glb');
});

test('a draft that cannot be meant is refused before it is sent', () => {
  const subject = file('/x/a.glb');
  const draft = draftOf('rename', subject);
  const same = { text: filesTexts.same, field: 'name' };
  expect(refusal(draft, subject)).toEqual(same);
  expect(refusal({ ...draft, folder: '/x/' }, subject)).toEqual(same);
  expect(refusal({ ...draft, name: 'b.glb' }, subject)).toBeNull();
  expect(refusal({ ...draft, name: ' ' }, subject)?.text).toBe('File name is required.');
  expect(refusal({ ...draft, name: 'y/b.glb' }, subject)?.text).toBe(filesTexts.slash);
  const other = { databaseId: 'museum', assetId: '' };
  expect(refusal({ ...draft, target: other }, subject)).toEqual({
    text: 'Asset is required.',
    field: 'asset',
  });
  expect(refusal({ ...draft, target: { ...other, assetId: 'x1' } }, subject)).toBeNull();
});

test('a name that the server refuses is refused before it is sent', () => {
  const subject = file('/x/a.glb');
  const draft = draftOf('rename', subject);
  for (const [name, text] of [
    [
      'a\u202e.glb',
      filesTexts.badName('a\ufffd.glb', 'must not contain the invisible character U+202E'),
    ],
    [`${'ü'.repeat(250)}.glb`, null],
  ] as const) {
    expect(refusal({ ...draft, name }, subject)?.text ?? null).toBe(text);
  }
  const folder = [251, 251, 250].map((each) => 'f'.repeat(each)).join('/');
  expect(refusal({ ...draft, folder, name: 'a' }, subject)).toBeNull(); // 757 bytes
  expect(refusal({ ...draft, folder, name: 'ab' }, subject)?.text).toBe(filesTexts.longPath(757));
  expect(destinationOf({ ...draft, name: 'a\u0308.glb' })).toBe('/x/ä.glb');
});

test('folders are named with those that they are in', () => {
  const paths = ['/b/c/d.txt', 'a.txt', '/empty/'];
  const files = paths.map((path) => ({ relativePath: path, isFolder: path.endsWith('/') }));
  expect(foldersOf(files)).toEqual(['b', 'b/c', 'empty']);
});

test('a folder is renamed and moved like a file, and not into itself', () => {
  const folder = { path: '/x/parts/', isArchived: false };
  const draft = draftOf('rename', folder);
  expect(draft).toMatchObject({ name: 'parts', folder: 'x' });
  expect(refusal(draft, folder)?.text).toBe(filesTexts.sameFolder);
  expect(refusal({ ...draft, name: 'pieces' }, folder)).toBeNull();
  expect(refusal({ ...draft, folder: '' }, folder)).toBeNull();
  expect(refusal({ ...draft, folder: 'x/parts' }, folder)?.text).toBe(filesTexts.within);
  expect(refusal({ ...draft, folder: 'x/parts/deep', name: 'y' }, folder)?.text).toBe(
    filesTexts.within,
  );
  expect(refusal({ ...draft, name: '' }, folder)?.text).toBe('Folder name is required.');
});

test('a name that the server refuses is refused before it is sent', () => {
  const subject = file('/x/a.glb');
  const draft = draftOf('rename', subject);
  expect(refusal({ ...draft, name: 'a?.glb' }, subject)?.text).toBe(
    'The name “a?.glb” must not contain ?.',
  );
  expect(refusal({ ...draft, folder: 'y:/z' }, subject)?.text).toBe(
    'The name “y:” must not contain :.',
  );
  expect(refusal({ ...draft, folder: '..' }, subject)?.text).toMatch(/must not end with a dot/);
});
