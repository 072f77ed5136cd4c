import { expect, test } from 'vitest';
import { suggestedName } from './localFiles';

const chosen = (path: string, folder?: string) => ({ file: new File([], 'x'), path, folder });

test('a new asset is called as the folder of its files, or as its only file', () => {
  expect(suggestedName([chosen('/a.glb', 'Pump'), chosen('/b/c.png', 'Pump')])).toBe('Pump');
  expect(suggestedName([chosen('/c.png'), chosen('/a.glb', 'Pump')])).toBe('Pump');
  expect(suggestedName([chosen('/a.glb'), chosen('/c.png')])).toBe('');
  expect(suggestedName([chosen('/pump house.v2.glb')])).toBe('pump house.v2');
  expect(suggestedName([chosen('/.hidden')])).toBe('.hidden');
  expect(suggestedName([])).toBe('');
});
