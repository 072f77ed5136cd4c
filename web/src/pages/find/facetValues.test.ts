import { expect, test } from 'vitest';
import { compareNames, formatNumber, visibleName } from '../../texts/formats';
import { formatAssetCount, valueLabel, facetValues } from './facetValues';

const reply = (...keys: unknown[]) =>
  ({
    metadataFacets: [
      { key: 'fact_watertight', buckets: keys.map((key) => ({ key, doc_count: 7, assets: 3 })) },
    ],
  }) as unknown as Parameters<typeof facetValues>[0];

test('booleans are yes and no, in each form in which a server returns them', () => {
  for (const [yes, no] of [
    ['true', 'false'],
    [true, false],
    [1, 0],
  ]) {
    const values = facetValues(reply(yes, no), 'fact_watertight', {});
    expect(values.map((value) => value.value)).toEqual([true, false]);
    expect(values.map((value) => valueLabel(value.value))).toEqual(['yes', 'no']);
  }
});

test('chosen values stay, even if nothing has them any more', () => {
  const state = { facets: { fact_watertight: [true] } };
  expect(facetValues(reply('false'), 'fact_watertight', state)).toEqual([
    { value: false, assets: 3 },
    { value: true, assets: 0 },
  ]);
});

test('values are ordered by the number that is shown', () => {
  const buckets = [
    { key: '.png', doc_count: 9, assets: 1 },
    { key: '.glb', doc_count: 3, assets: 3 },
  ];
  const counted = { aggregations: { str_fileext: { doc_count: 12, buckets } } };
  const values = facetValues(
    counted as unknown as Parameters<typeof facetValues>[0],
    'str_fileext',
    {},
  );
  expect(values.map((value) => value.value)).toEqual(['.glb', '.png']);
});

test('a number of assets that the server only estimates is marked', () => {
  expect([0, 3000, 3001].map(formatAssetCount)).toEqual(['0', '3,000', '≈ 3,001']);
});

test('small numbers are not shown as zero', () => {
  const shown = [0, 0.0000123, -0.00042, 0.5, 1.2345, 12_345].map(formatNumber);
  expect(shown).toEqual(['0', '0.0000123', '-0.00042', '0.5', '1.235', '12,345']);
});

test('names are sorted without case and accents, and numbers in names by their value', () => {
  const names = ['part 10', 'B', 'ä2', 'Part 2', 'c', 'A1'];
  expect(names.sort(compareNames)).toEqual(['A1', 'ä2', 'B', 'c', 'Part 2', 'part 10']);
});

test('a name cannot pretend another extension by reordering its letters', () => {
  expect(visibleName('\u202egnp.exe')).toBe('\ufffdgnp.exe');
  expect(visibleName('a\u2067b\u2069c\u200fd')).toBe('a\ufffdb\ufffdc\ufffdd');
  expect(visibleName(' admin\u3000\u3000')).toBe('␣admin␣␣');
  expect(visibleName('a b')).toBe('a b');
  const names = ['مرحبا.txt', '👩\u200d👩\u200d👧.glb', 'é \u00a0x.obj'];
  expect(names.map(visibleName)).toEqual(names);
});
