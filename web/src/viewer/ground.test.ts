import { expect, test } from 'vitest';
import { soften } from './ground';

test('a softened dot is a square of the same brightness in all, and an edge loses what is outside', () => {
  const side = 9;
  const dot = new Float32Array(side * side);
  dot[4 * side + 4] = 25;
  const soft = soften(dot, side, 2);
  const rows = Array.from({ length: side }, (_, row) =>
    [...soft.slice(row * side, (row + 1) * side)].map(Math.round).join(''),
  );
  expect(rows).toEqual([
    '000000000',
    '000000000',
    '001111100',
    '001111100',
    '001111100',
    '001111100',
    '001111100',
    '000000000',
    '000000000',
  ]);
  const corner = new Float32Array(side * side);
  corner[0] = 25;
  expect(soften(corner, side, 2).reduce((sum, value) => sum + value)).toBeCloseTo(9);
});
