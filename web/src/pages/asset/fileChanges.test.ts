import { expect, test } from 'vitest';
import { filesTexts } from '../../texts/files';
import {
  allowedActs,
  destinationPath,
  toDraft,
  listFolders,
  validateDraft,
  splitExtension,
} from './fileChanges';

const file = (path: string, isArchived = false) => ({ path, isArchived });

test('a file is offered what the API can do with it, a folder and an archived file less', () => {
  expect(allowedActs(file('/a.glb'))).toEqual(['rename', 'move', 'copy', 'archive', 'delete']);
  expect(allowedActs(file('/a.glb', true))).toEqual(['restore', 'delete']);
  expect(allowedActs(file('/parts/'))).toEqual(['rename', 'move', 'archive', 'delete']);
});

test('what is not changed of a path stays as it is', () => {
  const paths = ['/a', '/a.glb', '/x/y/a b.tar.gz', '/ x /.hidden', '/x/ a.txt ', '/😀/مرحبا.txt'];
  for (const path of paths) {
    for (const act of ['rename', 'move'] as const) {
      expect(destinationPath(toDraft(act, file(path)))).toBe(path);
    }
    expect(splitExtension(path).join('')).toBe(path);
  }
});

test('a copy in the same folder has another name from the start, with the same extension', () => {
  for (const [path, copied] of [
    ['/a.glb', '/a copy.glb'],
    ['/x/y/a', '/x/y/a copy'],
    ['/x/.hidden', '/x/.hidden copy'],
  ] as const) {
    const draft = toDraft('copy', file(path));
    expect(destinationPath(draft)).toBe(copied);
    expect(validateDraft(draft, file(path))).toBeNull();
  }
});

test('slashes around a folder and repeated ones do not matter', () => {
  for (const folder of ['x/y', '/x/y', 'x/y/', '//x//y//']) {
    expect(destinationPath({ name: 'a.glb', folder, target: null })).toBe('/x/y/a.glb');
  }
  expect(destinationPath({ name: 'a.glb', folder: '/', target: null })).toBe('/a.glb');
});

test('a draft that cannot be meant is refused before it is sent', () => {
  const subject = file('/x/a.glb');
  const draft = toDraft('rename', subject);
  const same = { text: filesTexts.same, field: 'name' };
  expect(validateDraft(draft, subject)).toEqual(same);
  expect(validateDraft({ ...draft, folder: '/x/' }, subject)).toEqual(same);
  expect(validateDraft({ ...draft, name: 'b.glb' }, subject)).toBeNull();
  expect(validateDraft({ ...draft, name: ' ' }, subject)?.text).toBe('File name is required.');
  expect(validateDraft({ ...draft, name: 'y/b.glb' }, subject)?.text).toBe(filesTexts.slash);
  const other = { databaseId: 'museum', assetId: '' };
  expect(validateDraft({ ...draft, target: other }, subject)).toEqual({
    text: 'Asset is required.',
    field: 'asset',
  });
  expect(validateDraft({ ...draft, target: { ...other, assetId: 'x1' } }, subject)).toBeNull();
});

test('a name that the server refuses is refused before it is sent', () => {
  const subject = file('/x/a.glb');
  const draft = toDraft('rename', subject);
  for (const [name, text] of [
    [
      'a\u202e.glb',
      filesTexts.badName('a\ufffd.glb', 'must not contain the invisible character U+202E'),
    ],
    [`${'ü'.repeat(250)}.glb`, null],
  ] as const) {
    expect(validateDraft({ ...draft, name }, subject)?.text ?? null).toBe(text);
  }
  const folder = [251, 251, 250].map((length) => 'f'.repeat(length)).join('/');
  expect(validateDraft({ ...draft, folder, name: 'a' }, subject)).toBeNull(); // 757 bytes
  expect(validateDraft({ ...draft, folder, name: 'ab' }, subject)?.text).toBe(
    filesTexts.longPath(757),
  );
  expect(destinationPath({ ...draft, name: 'a\u0308.glb' })).toBe('/x/ä.glb');
});

test('folders are named with those that they are in', () => {
  const paths = ['/b/c/d.txt', 'a.txt', '/empty/'];
  const files = paths.map((path) => ({ relativePath: path, isFolder: path.endsWith('/') }));
  expect(listFolders(files)).toEqual(['b', 'b/c', 'empty']);
});

test('a folder is renamed and moved like a file, and not into itself', () => {
  const folder = { path: '/x/parts/', isArchived: false };
  const draft = toDraft('rename', folder);
  expect(draft).toMatchObject({ name: 'parts', folder: 'x' });
  expect(validateDraft(draft, folder)?.text).toBe(filesTexts.sameFolder);
  expect(validateDraft({ ...draft, name: 'pieces' }, folder)).toBeNull();
  expect(validateDraft({ ...draft, folder: '' }, folder)).toBeNull();
  expect(validateDraft({ ...draft, folder: 'x/parts' }, folder)?.text).toBe(filesTexts.within);
  expect(validateDraft({ ...draft, folder: 'x/parts/deep', name: 'y' }, folder)?.text).toBe(
    filesTexts.within,
  );
  expect(validateDraft({ ...draft, name: '' }, folder)?.text).toBe('Folder name is required.');
});

test('a name that the server refuses is refused before it is sent', () => {
  const subject = file('/x/a.glb');
  const draft = toDraft('rename', subject);
  expect(validateDraft({ ...draft, name: 'a?.glb' }, subject)?.text).toBe(
    'The name “a?.glb” must not contain ?.',
  );
  expect(validateDraft({ ...draft, folder: 'y:/z' }, subject)?.text).toBe(
    'The name “y:” must not contain :.',
  );
  expect(validateDraft({ ...draft, folder: '..' }, subject)?.text).toMatch(
    /must not end with a dot/,
  );
});
