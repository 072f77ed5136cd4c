import { expect, test } from 'vitest';
import type { MetadataField } from '../asset/metadataQueries';
import {
  cellText,
  columnsOf,
  listEdits,
  mergeEdits,
  resolve,
  storedValue,
  toRequests,
  withoutWritten,
  withTexts,
  writtenRow,
  type Edits,
  type SheetRow,
} from './sheet';

const field = (key: string, value: string, more: Partial<MetadataField> = {}): MetadataField => ({
  key,
  value,
  type: 'string',
  isStored: true,
  schema: null,
  ...more,
});
const schema = { name: 's', type: null, isRequired: false, dependsOn: [], choices: [] };
const ofSchema = (key: string, value: string, isStored = true) =>
  field(key, value, { isStored, schema });
const row = (id: string, ...fields: MetadataField[]): SheetRow => ({
  id,
  place: { databaseId: 'd', assetId: id },
  name: id,
  fields: new Map(fields.map((of) => [of.key, of])),
  failure: '',
});
const NONE: Edits = new Map();
const typed = (edits: Edits, of: SheetRow, key: string, text: string) =>
  withTexts(edits, [{ row: of, key, text }]);
const values = (edits: Edits, of: SheetRow) =>
  Object.fromEntries(listEdits([of], edits).map(({ key, value }) => [key, value]));

test('columns are the keys of schemas, then others by name, then new ones, each once', () => {
  const rows = [
    row('a', field('z', '1'), ofSchema('mass', '', false)),
    row('b', field('a10', '1'), field('a9', '2'), field('mass', 'x')),
  ];
  const added = [
    { key: 'z', type: 'number' as const },
    { key: 'new', type: 'date' as const },
  ];
  expect(columnsOf(rows, added).map(({ key }) => key)).toEqual(['mass', 'a9', 'a10', 'z', 'new']);
});

test.each([
  // The key of the row, what is typed, and the value that is to be written.
  ['plain', '1', undefined],
  ['plain', '2', '2'],
  ['plain', '', null],
  ['ruled', '', ''],
  ['open', 'kg', 'kg'],
  ['open', '', undefined],
  ['absent', 'x', 'x'],
  ['absent', '', undefined],
])('in the cell of a %s key, “%s” becomes %j', (key, text, value) => {
  const a = row('a', field('plain', '1'), ofSchema('ruled', '1'), ofSchema('open', 'kg', false));
  const edits = typed(typed(NONE, a, key, 'before'), a, key, text);
  expect(values(edits, a)[key]).toBe(value);
  expect(edits.has('a')).toBe(value !== undefined);
  expect(storedValue(a, 'open')).toBeNull();
});

test('a thousand assets with twenty keys are saved in twenty requests', () => {
  const keys = Array.from({ length: 20 }, (_, at) => `k${at}`);
  const rows = Array.from({ length: 1000 }, (_, at) => row(`a${at}`));
  const cells = rows.flatMap((of) => keys.map((key) => ({ row: of, key, text: 'x' })));
  const requests = toRequests(rows, withTexts(NONE, cells));
  expect(requests).toHaveLength(20);
  expect(new Set(requests.map((changes) => changes.length))).toEqual(new Set([50]));
  const many = row('many');
  const edits = withTexts(
    NONE,
    Array.from({ length: 200 }, (_, at) => ({ row: many, key: `k${at}`, text: 'x' })),
  );
  const parts = toRequests([many], edits).map(([change]) => change?.edits.length);
  expect(parts).toEqual([90, 90, 20]);
});

test('what was written is stored, and what was typed meanwhile stays', () => {
  const a = row('a', field('mass', '1'), field('gone', 'x'), ofSchema('open', 'kg', false));
  let edits = typed(typed(typed(NONE, a, 'mass', '2'), a, 'gone', ''), a, 'open', 'g');
  const sent = listEdits([a], edits);
  edits = typed(edits, a, 'mass', '3');
  edits = withoutWritten(edits, a, sent);
  const now = writtenRow(a, sent, () => 'string');
  expect(values(edits, now)).toEqual({ mass: '3' });
  expect(listEdits([now], edits)[0]?.before).toBe('2');
  expect([...now.fields.keys()]).toEqual(['mass', 'open']);
  expect(storedValue(now, 'open')).toBe('g');
});

test('a value that someone else has changed waits for a choice, and is then written or dropped', () => {
  const a = row('a', field('mass', '1'), field('note', 'n'), field('gone', 'x'));
  let edits = typed(typed(typed(NONE, a, 'mass', '2'), a, 'note', 'm'), a, 'gone', 'y');
  const now = row('a', field('mass', 'theirs'), field('note', 'n'));
  edits = mergeEdits(edits, a, now, new Map([['note', 'must be short']]));
  const cells = listEdits([now], edits);
  expect(cells.map(({ key, theirs, refusal }) => [key, theirs?.value, refusal])).toEqual([
    ['mass', 'theirs', undefined],
    ['note', undefined, 'must be short'],
    ['gone', null, undefined],
  ]);
  expect(toRequests([now], edits)[0]?.[0]?.edits.map(({ key }) => key)).toEqual(['note']);
  const mine = resolve(edits, now, 'mass', true);
  expect(toRequests([now], mine)[0]?.[0]?.edits.map(({ before }) => before)).toEqual([
    'theirs',
    'n',
  ]);
  expect(cellText(resolve(edits, now, 'mass', false), now, 'mass')).toBe('theirs');
  // What both have written alike is none of both.
  expect(
    mergeEdits(edits, a, row('a', field('mass', '2')), new Map())
      .get('a')
      ?.has('mass'),
  ).toBe(false);
});
