import { expect, test } from 'vitest';
import { drawnAxis, type Axis } from './axes';

const AXES: readonly Axis[] = ['x', 'y', 'z'];

test('a converted model is measured along the axes of its file', () => {
  const drawn = (derived: boolean, up?: string) =>
    AXES.map((axis) => drawnAxis(axis, derived, up)).join('');
  expect(drawn(true, 'z')).toBe('xzy');
  expect(drawn(true, 'x')).toBe('yxz');
  expect(drawn(true, 'y')).toBe('xyz');
  expect(drawn(true)).toBe('xyz');
  expect(drawn(false, 'z')).toBe('xyz');
});
