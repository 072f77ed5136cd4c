import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clearPictures, pictureUrl, type Preview } from './pictures';

const NOON = Date.parse('2026-03-01T12:00:00Z');
const preview = (request: number, small = true): Preview => ({
  id: 'p1',
  url: `https://bucket.test/large?${request}`,
  ...(small ? { smallUrl: `https://bucket.test/small?${request}` } : {}),
  expiresAt: '2026-03-01T12:15:00Z',
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('sessionStorage', { getItem: () => null, setItem: () => undefined });
});
afterEach(() => {
  clearPictures();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('the first address of each size is kept until shortly before it ends', () => {
  const shown = [1, 2].flatMap((number) => [
    pictureUrl(preview(number), true, NOON),
    pictureUrl(preview(number), false, NOON),
  ]);
  const first = ['https://bucket.test/small?1', 'https://bucket.test/large?1'];
  expect(shown).toEqual([...first, ...first]);
  const late = NOON + 14.5 * 60_000;
  expect(pictureUrl(preview(3), true, late)).toBe('https://bucket.test/small?3');
});

test('a picture without a small one is shown large, and a small one once there is one', () => {
  expect(pictureUrl(preview(1, false), true, NOON)).toBe('https://bucket.test/large?1');
  expect(pictureUrl(preview(2), true, NOON)).toBe('https://bucket.test/small?2');
});

test('an address that a picture cannot have is not used', () => {
  const bad = { ...preview(1), url: 'javascript:alert(1)', smallUrl: 'data:text/html,x' };
  expect([pictureUrl(bad, true, NOON), pictureUrl(bad, false, NOON)]).toEqual(['', '']);
});
