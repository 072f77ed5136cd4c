import { expect, test } from 'vitest';
import {
  changedSchemas,
  findChanges,
  findMistakes,
  mergeRows,
  newRow,
  takeTheirs,
  toRows,
} from './metadataDraft';
import type { MetadataField } from './metadataQueries';

const field = (key: string, value: string, type: MetadataField['type'] = 'string') =>
  ({ key, value, type, isStored: true, schema: null }) satisfies MetadataField;
const rows = toRows([field('a', '1'), field('b', '2')]);
const [a, b] = rows as [(typeof rows)[0], (typeof rows)[0]];

test('only what differs from what was read is written', () => {
  const edited = [
    { ...a, value: 'x' },
    { ...b, isRemoved: true },
    { ...newRow(rows), key: 'c' },
  ];
  const { changed, removed } = findChanges(edited);
  expect(changed.map(({ key, value }) => [key, value])).toEqual([
    ['a', 'x'],
    ['c', ''],
  ]);
  expect(removed.map(({ key }) => key)).toEqual(['b']);
  expect(findChanges(rows)).toEqual({ changed: [], removed: [] });
});

test('new keys need a name that no other has', () => {
  const added = newRow(rows);
  const twice = { ...newRow([...rows, added]), key: 'c' };
  const words = { emptyKey: 'empty', twice: 'twice' };
  const all = [...rows, added, { ...twice, key: 'a' }, { ...twice, id: 9 }];
  expect([...findMistakes(all, words)]).toEqual([
    [2, 'empty'],
    [3, 'twice'],
  ]);
});

test.each([
  // What the user did, what is stored by now, the value shown, theirs, and what is written next.
  ['nothing', [field('a', 'new')], 'new', undefined, []],
  ['nothing', [], undefined, undefined, []],
  ['change', [field('a', '1')], 'mine', undefined, ['mine']],
  ['change', [field('a', 'new')], 'mine', 'new', ['mine']],
  ['change', [field('a', 'mine')], 'mine', undefined, []],
  ['change', [], 'mine', null, ['mine']],
  ['remove', [field('a', 'new')], '1', 'new', []],
  ['remove', [field('a', '1')], '1', undefined, []],
  ['remove', [], undefined, undefined, []],
])(
  'after “%s”, with %j stored, the value is %s and theirs %s',
  (act, stored, value, theirs, sent) => {
    const mine = act === 'change' ? { ...a, value: 'mine' } : { ...a, isRemoved: act === 'remove' };
    const [merged] = mergeRows([mine], stored);
    expect(merged?.value).toBe(value);
    expect(merged?.theirs?.value).toBe(theirs);
    const next = findChanges(mergeRows([mine], stored));
    expect(next.changed.map((row) => row.value)).toEqual(sent);
  },
);

test('a conflict is one only once: the next save writes what the user has', () => {
  const conflicts = mergeRows(
    [
      { ...a, value: 'mine' },
      { ...b, value: 'mine' },
    ],
    [field('a', 'x')],
  );
  expect(conflicts.map(({ theirs }) => theirs?.value)).toEqual(['x', null]);
  const next = mergeRows(conflicts, [field('a', 'x')]);
  expect(next.map(({ theirs }) => theirs)).toEqual([undefined, undefined]);
  expect(findChanges(next).changed.map(({ key }) => key)).toEqual(['a', 'b']);
});

test('a key that both have added is a conflict, and one of others is shown', () => {
  const mine = { ...newRow(rows), key: 'c', value: 'mine' };
  const merged = mergeRows(
    [...rows, mine],
    [field('a', '1'), field('b', '2'), field('c', 'theirs', 'number'), field('d', 'other')],
  );
  expect(merged.map(({ key, value }) => [key, value])).toEqual([
    ['a', '1'],
    ['b', '2'],
    ['c', 'mine'],
    ['d', 'other'],
  ]);
  expect(new Set(merged.map(({ id }) => id)).size).toBe(4);
  const [, , conflict] = merged;
  expect(conflict && takeTheirs(conflict)).toMatchObject({ value: 'theirs', type: 'number' });
  expect(takeTheirs({ ...a, theirs: { value: null, type: 'string' } })).toBeNull();
});

test('a schema that is another one by now is known by its keys, and gives new values its types', () => {
  const schema = { name: 's', type: null, isRequired: false, dependsOn: [], choices: ['oak'] };
  const before = toRows([{ ...field('a', '1'), schema }, field('b', '2')]);
  const stored = [
    { ...field('a', '1'), schema: { ...schema, choices: ['oak', 'pine'] } },
    field('b', '2'),
    { ...field('c', ''), isStored: false, schema: { ...schema, isRequired: true } },
    { ...field('d', ''), isStored: false, schema },
  ];
  const merged = mergeRows(before, stored);
  expect(changedSchemas(before, merged)).toEqual(['a', 'c']);
  expect(changedSchemas(merged, merged)).toEqual([]);
});
