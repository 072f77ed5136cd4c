import { expect, test, vi } from 'vitest';
import { pagesOf } from './pages';

const PAGES = new Map([
  [undefined, { items: [1], NextToken: 'a' }],
  ['a', { items: [], NextToken: 'b' }],
  ['b', { items: [2] }],
]);
const read = vi.fn((token?: string) => Promise.resolve(PAGES.get(token) ?? { items: [] }));

test('a list is read to its end, past pages that are empty', async () => {
  const items: number[] = [];
  for await (const page of pagesOf(read)) items.push(...page.items);
  expect(items).toEqual([1, 2]);
});

test('pages that are not needed are not requested', async () => {
  read.mockClear();
  for await (const page of pagesOf(read)) if (page.items.length) break;
  expect(read).toHaveBeenCalledTimes(1);
});
