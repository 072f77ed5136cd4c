import { expect, test } from 'vitest';
import declared from '../../api/declared.json';
import { uploadTexts } from '../../texts/upload';
import { refusedFiles } from './names';

const words = uploadTexts.refused;
const reasonOf = (path: string, allowed = '') =>
  refusedFiles([{ file: new File([], 'x'), path }], allowed).get(path);

test('a name that the server refuses is refused before it is sent, and says why', () => {
  for (const [path, reason] of [
    ['/a?.txt', words.name('must not contain ?')],
    ['/time 10:30 <b>.png', words.name('must not contain : < >')],
    ['/Icon\r', words.name('must not contain control characters')],
    ['/a.', words.name('must not end with a dot or a space')],
    ['/a ', words.name('must not end with a dot or a space')],
    [`/${'n'.repeat(256)}`, words.name('must have 1 to 255 characters')],
    ['/a|b/c.txt', words.folder('a|b', 'must not contain |')],
    ['/..', words.name('must not end with a dot or a space')],
    [`/${`${'ü'.repeat(100)}/`.repeat(6)}x`, words.path(1024)],
    ['/Setup.EXE', words.blocked('.exe')],
    ['/.bat', words.blocked('.bat')],
  ] as const) {
    expect(reasonOf(path), path).toBe(reason);
  }
});

test('names that are only unusual are not', () => {
  const names = ['/.hidden', '/a b/ü #1 (2)~$%&.glb', `/${'n'.repeat(255)}`, '/😀'.repeat(20)];
  for (const path of names) expect(reasonOf(path), path).toBeUndefined();
  expect(reasonOf(`/${'😀'.repeat(200)}`)).toBeUndefined(); // letters are counted, not halves
});

test('the types of the database are those that it accepts', () => {
  expect(reasonOf('/a.pdf', '.glb, .PNG')).toBe(words.type(['.glb', '.png']));
  expect(reasonOf('/a.GLB', '.glb,.png')).toBeUndefined();
  expect(reasonOf('/a', '.glb')).toBe(words.type(['.glb']));
  expect(reasonOf('/a.pdf', '.all')).toBeUndefined();
  expect(reasonOf('/a.glb.previewFile.png', '.glb')).toBeUndefined();
});

test('each file has its own reason, and the others have none', () => {
  const files = ['/a.txt', '/b?.txt', '/c:/d.txt'].map((path) => ({
    file: new File([], 'x'),
    path,
  }));
  expect([...refusedFiles(files, '').keys()]).toEqual(['/b?.txt', '/c:/d.txt']);
});

test('every declared rule is one that a browser reads', () => {
  expect(declared.files.nameRules.length).toBeGreaterThan(3);
  for (const { pattern } of declared.files.nameRules) {
    expect(() => new RegExp(pattern, 'u')).not.toThrow();
    expect(new RegExp(pattern, 'u').test('lighthouse.glb')).toBe(false);
  }
});
