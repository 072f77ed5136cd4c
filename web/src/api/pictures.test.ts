import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  clearPictures,
  dropPicture,
  heldPreviews,
  holdPreview,
  pictureUrl,
  withPreviews,
  type Preview,
} from './pictures';

const preview = (request: number, { small = true, id = 'p1' } = {}): Preview => ({
  id,
  url: `https://bucket.test/large?${request}`,
  ...(small ? { smallUrl: `https://bucket.test/small?${request}` } : {}),
  expiresAt: '2026-03-01T12:15:00Z',
});
let stored: string | null = null;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse('2026-03-01T12:00:00Z') });
  const setItem = (_: string, value: string) => (stored = value);
  vi.stubGlobal('sessionStorage', { getItem: () => stored, setItem });
});
afterEach(() => {
  clearPictures();
  stored = null;
  vi.unstubAllGlobals();
  vi.resetModules();
  vi.useRealTimers();
});

test('the first addresses of a picture are kept until shortly before they end', () => {
  const shown = [1, 2].flatMap((number) => {
    const held = holdPreview(preview(number));
    return [pictureUrl(held, true), pictureUrl(preview(number))];
  });
  const first = ['https://bucket.test/small?1', 'https://bucket.test/large?1'];
  expect(shown).toEqual([...first, ...first]);
  vi.setSystemTime('2026-03-01T12:14:00Z');
  expect(heldPreviews()).toEqual([]);
  expect(pictureUrl(holdPreview(preview(3)), true)).toBe('https://bucket.test/small?3');
});

test('a picture without a small one is shown large, and a small one once there is one', () => {
  expect(pictureUrl(holdPreview(preview(1, { small: false })), true)).toMatch(/large\?1$/);
  expect(pictureUrl(holdPreview(preview(2)), true)).toMatch(/small\?2$/);
});

test('an address that a picture cannot have is not used', () => {
  const bad = { ...preview(1), url: 'javascript:alert(1)', smallUrl: 'data:text/html,x' };
  expect([pictureUrl(bad, true), pictureUrl(bad)]).toEqual(['', '']);
});

test('the previews of hits that a search named are those that the tab holds', () => {
  const hit = (more: object) =>
    ({ _id: 'a', _index: 'assets', _index_type: 'asset', _source: {}, ...more }) as never;
  withPreviews(
    [hit({ preview: preview(1), files: [hit({ preview: preview(1, { id: 'p2' }) })] })],
    [],
  );
  const named = heldPreviews();
  expect(named.map(({ id }) => id)).toEqual(['p1', 'p2']);
  dropPicture(preview(1));
  expect(heldPreviews().map(({ id }) => id)).toEqual(['p2']);
  const later = withPreviews(
    [hit({ previewHeld: 'p1', files: [hit({ previewHeld: 'p2' })] })],
    named,
  );
  expect([later[0]?.preview, later[0]?.files?.[0]?.preview]).toEqual(named);
});

test('of many previews the latest 200 are named', () => {
  for (let at = 0; at < 250; at++) holdPreview(preview(at, { id: `p${at}` }));
  holdPreview(preview(0, { id: 'p0' }));
  expect(heldPreviews().map(({ id }) => id)).toEqual([
    ...Array.from({ length: 199 }, (_, at) => `p${at + 51}`),
    'p0',
  ]);
});

test.each(['null', '{', '"x"', '[null, 7, {"id": "p1"}]'])(
  'after a reload the pictures are those that are stored, never %s of another program',
  async (other) => {
    holdPreview(preview(1));
    vi.runAllTimers();
    const again = await import('./pictures');
    expect(again.heldPreviews()).toEqual([preview(1)]);
    stored = other;
    vi.resetModules();
    expect((await import('./pictures')).heldPreviews()).toEqual([]);
  },
);
