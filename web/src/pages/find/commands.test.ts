import { expect, test } from 'vitest';
import { downloadCommand, searchCommand, uploadCommand } from './commands';

const card = (assetId: string) => ({ id: assetId, databaseId: 'library', assetId, name: 'x' });

test('a command downloads each asset, or a folder, whatever its name is', () => {
  expect(downloadCommand([card('x1'), card('x2')])).toBe(
    'vitrine download library x1\nvitrine download library x2',
  );
  expect(downloadCommand([card('x1')], "/it's $(here)/")).toBe(
    `vitrine download library x1 '/it'\\''s $(here)/'`,
  );
});

test('a command uploads files into an asset, unless they are in folders or very many', () => {
  const place = { databaseId: 'library', assetId: 'x1' };
  expect(uploadCommand(place, ['/a b.stl', '/-x'])).toBe(
    "vitrine ingest library x1 'a b.stl' ./-x",
  );
  expect(uploadCommand(place, ['/parts/a.stl'])).toBeNull();
  expect(uploadCommand(place, [])).toBeNull();
  expect(uploadCommand(place, Array<string>(21).fill('/a'))).toBeNull();
});

test('a command searches for the same', () => {
  expect(searchCommand({})).toBe("vitrine search --fold ''");
  expect(
    searchCommand({
      q: '-gear',
      facets: { list_tags: ["it's"], fact_watertight: [true] },
      triangles: [1000, null],
      taken: [null, '2026-01-31'],
      meta: [
        { key: 'fact_points', op: 'gte', value: '5' },
        { key: 'maker', op: 'exists' },
      ],
      archived: true,
    }),
  ).toBe(
    "vitrine search --fold --choose 'tag=it'\\''s' --choose 'watertight=true' --where 'triangles>=1000' --where 'taken<=2026-01-31T23:59:59.999' --where 'points>=5' --metadata maker --archived -- -gear",
  );
  expect(searchCommand({ size: [1, null] })).toBeNull();
  expect(searchCommand({ meta: [{ key: 'a=b', op: 'exists' }] })).toBeNull();
});
