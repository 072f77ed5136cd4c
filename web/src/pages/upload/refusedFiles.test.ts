import { expect, test } from 'vitest';
import declared from '../../api/declared.json';
import { uploadTexts } from '../../texts/upload';
import { refusedFiles } from './refusedFiles';

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
    ['/\u00a0a.txt', words.name('must not begin or end with the blank U+00A0')],
    ['/b\u3000/a.txt', words.folder('b\u3000', 'must not begin or end with the blank U+3000')],
    ['/a\u200bb', words.name('must not contain the invisible character U+200B')],
    ['/\ufeffa.glb', words.name('must not contain the invisible character U+FEFF')],
    ['/x\u202egpj.exe', words.name('must not contain the invisible character U+202E')],
    ['/🔥\ufe0f\ufe0f', words.name('must not contain the invisible character U+FE0F')],
    ['/.bat', words.blocked('.bat')],
  ] as const) {
    expect(reasonOf(path), path).toBe(reason);
  }
});

test('names that are only unusual are not', () => {
  const names = ['/.hidden', '/a b/ü #1 (2)~$%&.glb', `/${'n'.repeat(255)}`, '/😀'.repeat(20)];
  for (const path of names) expect(reasonOf(path), path).toBeUndefined();
  // Letters that are not seen, and change how others are displayed; what joins, the server knows.
  for (const name of [
    '❤\ufe0f\u200d🔥',
    '1\ufe0f\u20e3',
    '葛\u{e0100}飾',
    'می\u200cخواهم',
    'a\u202fb',
  ]) {
    expect(reasonOf(`/${name}.glb`), name).toBeUndefined();
  }
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
  const { blankEnd, characters, allowed } = declared.files.invisible;
  for (const pattern of [blankEnd.pattern, characters.pattern, allowed]) {
    expect(new RegExp(pattern, 'u').test('lighthouse.glb')).toBe(false);
  }
  expect(declared.files.nameRules.length).toBeGreaterThan(3);
  for (const { pattern } of declared.files.nameRules) {
    expect(() => new RegExp(pattern, 'u')).not.toThrow();
    expect(new RegExp(pattern, 'u').test('lighthouse.glb')).toBe(false);
  }
});

test('two files with one path are both refused, and neither replaces the other', () => {
  const names = ['é.txt', 'e\u0301.txt', 'e.txt'];
  const files = names.map((name) => ({
    file: new File([name], name),
    path: `/${name.normalize('NFC')}`,
  }));
  expect([...refusedFiles(files, '')]).toEqual([['/é.txt', words.twice]]);
});
