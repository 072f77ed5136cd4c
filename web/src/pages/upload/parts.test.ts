import { expect, test } from 'vitest';
import { partSizes, wantedParts } from './parts';

const MIB = 1024 * 1024;

test('the parts of a file hold all of it, and none is empty', () => {
  const cases: [number, number][] = [
    [1, 1],
    [10, 3],
    [150 * MIB, 1],
    [150 * MIB + 1, 2],
    [151 * MIB, 5],
    [5_000_000_000, 2_500],
  ];
  for (const [size, count] of cases) {
    const sizes = partSizes(size, count);
    expect(sizes.length).toBe(count);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(size);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  }
  expect(partSizes(0, 1)).toEqual([]);
});

test('default parts are whole, as on the server', () => {
  expect(partSizes(310 * MIB, 3)).toEqual([150 * MIB, 150 * MIB, 10 * MIB]);
  expect(partSizes(10, 3)).toEqual([4, 3, 3]);
});

test('a file has no more parts than addresses fit into one reply', () => {
  expect(wantedParts(1_000)).toBeUndefined();
  expect(wantedParts(64 * MIB)).toBe(2);
  expect(wantedParts(5 * 1024 ** 4)).toBe(2_500);
});
