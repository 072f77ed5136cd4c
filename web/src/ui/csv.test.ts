import { expect, test } from 'vitest';
import { toCsv } from './csv';

test('cells that a spreadsheet would calculate stay text; others are quoted where they must', () => {
  const rows = [
    ['=1+1', '+x', '-12.5', '@a'],
    ['a "b", c', 'two\nlines', '', '-x'],
  ];
  expect(toCsv(rows)).toBe(`\uFEFF'=1+1,'+x,-12.5,'@a\r\n"a ""b"", c","two\nlines",,'-x\r\n`);
});
