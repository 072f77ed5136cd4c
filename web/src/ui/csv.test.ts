import { expect, test } from 'vitest';
import { CsvError, parseCsv, toCsv } from './csv';

test('cells that a spreadsheet would calculate stay text; others are quoted where they must', () => {
  const rows = [
    ['=1+1', '+x', '-12.5', '@a'],
    ['a "b", c', 'two\nlines', '', '-x'],
  ];
  expect(toCsv(rows)).toBe(`\uFEFF'=1+1,'+x,-12.5,'@a\r\n"a ""b"", c","two\nlines",,'-x\r\n`);
});

test('what was written is read as it was', () => {
  const values = ["'", "'tis", "'=1", "''-x", '=1', '-1', '\t', '\r\n', '"', ';', ' a ', '\uFEFFb'];
  const rows = [
    ['key', ...values],
    ['', ...values.toReversed()],
    ['x'.repeat(200_000), 'é', '𝄞'],
  ];
  expect(parseCsv(toCsv(rows)).map(({ cells }) => cells)).toEqual(rows);
});

test('lines are numbered as an editor does, and those of other programs are read', () => {
  const read = (text: string) => parseCsv(text).map(({ line, cells }) => [line, ...cells]);
  expect(read('a,b\n"1\n2",3\n\n4,5')).toEqual([
    [1, 'a', 'b'],
    [2, '1\n2', '3'],
    [5, '4', '5'],
  ]);
  expect(read('a;b\r\n1,5;2\r\n')).toEqual([
    [1, 'a', 'b'],
    [2, '1,5', '2'],
  ]);
  expect(read('')).toEqual([]);
});

test.each([
  ['a,b\n1,"2', 2, 2],
  ['a,b\n1,"2"x', 2, 2],
  ['a,b"c', 1, 2],
])('%j is refused at line %i, column %i', (text, line, column) => {
  const before = line > 1 ? [{ line: 1, cells: ['a', 'b'] }] : [];
  expect(() => parseCsv(text)).toThrow(new CsvError(line, column, before));
});
