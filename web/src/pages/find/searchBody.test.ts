import { expect, test } from 'vitest';
import { searchBody } from './searchBody';
import { countFilters, parseSearch } from './findState';

test('a range of days includes the whole last one, by the clock of the camera', () => {
  const state = parseSearch({ taken: ['2024-05-17', '2024-05-18'] });
  expect(countFilters(state)).toBe(1);
  expect(searchBody(state, 0, true).metadataFilters).toEqual([
    { key: 'fact_taken', op: 'gte', value: '2024-05-17', type: 'date' },
    { key: 'fact_taken', op: 'lte', value: '2024-05-18T23:59:59.999', type: 'date' },
  ]);
  const open = searchBody(parseSearch({ taken: [null, '2024-05-18'] }), 0, true);
  expect(open.metadataFilters).toHaveLength(1);
  expect(searchBody(parseSearch({ taken: ['soon', 7] }), 0, true).metadataFilters).toEqual([]);
});
