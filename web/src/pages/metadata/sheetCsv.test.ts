import { expect, test } from 'vitest';
import type { MetadataField } from '../asset/metadataQueries';
import { columnsOf, withTexts, type SheetRow } from './sheet';
import { importCsv, readCsvFile, sheetCsv } from './sheetCsv';

const field = (key: string, value: string, more: Partial<MetadataField> = {}) => ({
  ...{ key, value, type: 'string' as const, isStored: true, schema: null },
  ...more,
});
const wood = { name: 's', type: null, isRequired: false, dependsOn: [], choices: ['oak', 'pine'] };
const row = (assetId: string, ...fields: MetadataField[]): SheetRow => ({
  id: assetId,
  place: { databaseId: 'd', assetId },
  name: `The ${assetId}, "old"`,
  fields: new Map(fields.map((of) => [of.key, of])),
  failure: '',
});
const rows = [
  row('a', field('=sum', '=1+1'), field('mass', '12', { type: 'number' }), field('b:c', ' x ')),
  row('b', field('wood', '', { isStored: false, schema: wood }), field('note', "'@x\r\nline 2")),
];
const columns = columnsOf(rows, []);
const none = new Map();
const problems = (text: string) =>
  importCsv(text, rows, columns).problems.map(({ line, column }) => [line, column]);

test('a table that is written and read again is the same', () => {
  const imported = importCsv(sheetCsv(rows, columns, none), rows, columns);
  expect(imported.problems).toEqual([]);
  expect(imported.cells).toHaveLength(2 * columns.length);
  expect(withTexts(none, imported.cells)).toEqual(none);
  expect(imported.columns).toEqual(columns);
});

test('cells of the file become changes, and its new keys columns with their types', () => {
  const text = 'assetId,databaseId,mass,made:date\r\nb,d,7,2026-01-31\r\n';
  const { cells, columns: read, problems: wrong } = importCsv(text, rows, columns);
  expect(wrong).toEqual([]);
  expect(cells.map(({ row: of, key, text: value }) => [of.id, key, value])).toEqual([
    ['b', 'mass', '7'],
    ['b', 'made', '2026-01-31'],
  ]);
  expect(read).toEqual([
    { key: 'mass', type: 'number' },
    { key: 'made', type: 'date' },
  ]);
});

test.each([
  ['assetId,mass\na,1', [[1, '']]],
  ['databaseId,assetId,mass,mass:number\nd,a,1,1', [[1, 'mass:number']]],
  [`databaseId,assetId,${'x'.repeat(257)}\nd,a,1`, [[1, 'x'.repeat(257)]]],
  ['databaseId,assetId,mass\nd,a,1\nd,b', [[3, '']]],
  ['databaseId,assetId,mass\nd,none,1', [[2, 'assetId']]],
  ['databaseId,assetId,mass\nd,a,1\nd,a,2', [[3, 'assetId']]],
  ['databaseId,assetId,mass\nd,a,"1\n', [[2, '3']]],
  [
    'databaseId,assetId,mass,wood,flag:boolean,day:date,at:lla\nd,a,heavy,,yes,spring,{\nd,b,1e3,elm,TRUE,2026-01-31T10:00Z,{}',
    [
      [2, 'mass'],
      [2, 'flag'],
      [2, 'day'],
      [2, 'at'],
      [3, 'wood'],
    ],
  ],
])('what is wrong in %j is named by line and column', (text, expected) => {
  expect(problems(text)).toEqual(expected);
});

test('a file that is too large or of another encoding is refused in a sentence', async () => {
  const large = new File([], 'a.csv');
  Object.defineProperty(large, 'size', { value: 50_000_000 });
  await expect(readCsvFile(large)).rejects.toThrow(/^The file has 50 MB; at most 10 MB/);
  const latin = new File([new Uint8Array([0xe9, 0x2c])], 'a.csv');
  await expect(readCsvFile(latin)).rejects.toThrow('The file is not UTF-8.');
});
