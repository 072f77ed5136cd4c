import { expect, test } from 'vitest';
import { downloadCommand } from './commands';

const card = (assetId: string) => ({ id: assetId, databaseId: 'library', assetId, name: 'x' });

test('a command downloads each asset, or a folder, whatever its name is', () => {
  expect(downloadCommand([card('x1'), card('x2')])).toBe(
    'vitrine download library x1\nvitrine download library x2',
  );
  expect(downloadCommand([card('x1')], "/it's $(here)/")).toBe(
    `vitrine download library x1 '/it'\\''s $(here)/'`,
  );
});
