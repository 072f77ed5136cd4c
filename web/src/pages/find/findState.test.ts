import { expect, test } from 'vitest';
import { countFilters, parseSearch, withoutFilters } from './findState';

test('archived assets are hits only if the address contains it', () => {
  expect(parseSearch({ archived: true })).toEqual({ archived: true });
  for (const other of [false, 'true', 1, null])
    expect(parseSearch({ archived: other })).toEqual({});
  expect(countFilters({ archived: true })).toBe(1);
  expect(withoutFilters({ q: 'a', archived: true })).toEqual({ q: 'a' });
});
