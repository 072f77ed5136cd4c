import { expect, test } from 'vitest';
import { fitZoom, minZoom, maxZoom, scrollAfterZoom, clampZoom } from './zoom';

const place = { width: 800, height: 600 };
const photo = { width: 4000, height: 3000 };

test('a picture fits by its longer side, and a small one fills its place', () => {
  expect(fitZoom(place, photo)).toBe(0.2);
  expect(fitZoom(place, { width: 100, height: 300 })).toBe(2);
  expect(fitZoom(place, { width: 0, height: 0 })).toBe(1);
});

test('every picture can be shown as large as it is, and its pixels be counted', () => {
  for (const fit of [0.01, 0.2, 1, 20]) {
    expect(clampZoom(1, fit)).toBe(1);
    expect(clampZoom(fit, fit)).toBe(fit);
    expect(clampZoom(1000, fit)).toBe(maxZoom(fit));
    expect(clampZoom(0, fit)).toBe(minZoom(fit));
    expect(maxZoom(fit)).toBeGreaterThanOrEqual(8);
  }
});

test('the part below the pointer stays there', () => {
  const at = { x: 600, y: 150 };
  const scrolled = scrollAfterZoom(place, photo, { x: 0, y: 0 }, at, { from: 0.2, to: 1 });
  expect(scrolled).toEqual({ x: 3000 - 600, y: 750 - 150 });
  const back = scrollAfterZoom(place, photo, scrolled, at, { from: 1, to: 0.2 });
  expect(back.x).toBeCloseTo(0);
  expect(back.y).toBeCloseTo(0);
});

test('a picture that is smaller than its place is in the middle', () => {
  const small = { width: 400, height: 100 };
  const middle = { x: 400, y: 300 };
  const scrolled = scrollAfterZoom(place, small, { x: 0, y: 0 }, middle, { from: 1, to: 4 });
  // The middle of 1600 × 400 pixels: scrolled sideways, and not down.
  expect(scrolled).toEqual({ x: 800 - 400, y: 0 });
});
