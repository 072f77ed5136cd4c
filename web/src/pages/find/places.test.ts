import { expect, test } from 'vitest';
import type { Hit } from '../../api/hits';
import { WHOLE } from '../../ui/earth';
import { fitView, groupSpots, spotsOf, within, zoomView } from './places';

const hit = (source: object, files: object[] = []) =>
  ({
    _source: { str_databaseid: 'd', str_assetid: 'a', str_assetname: 'Arch', ...source },
    files: files.map((file) => ({ _source: { str_key: 'a/x.jpg', ...file } })),
  }) as unknown as Hit;
const at = (lon: number, lat: number) => ({
  databaseId: 'd',
  assetId: 'a',
  name: 'Arch',
  lon,
  lat,
});

test('a hit has the place of its location, else of other metadata, and those of photographs', () => {
  const location = { type: 'Point', coordinates: [8.5, 47.4, 400] };
  const metadata = [{ key: 'x' }, { key: 'site', point: { lat: -33, lon: 151 } }];
  expect(spotsOf([hit({ geo_MD_location: location, metadata })])).toEqual([at(8.5, 47.4)]);
  expect(spotsOf([hit({ metadata })])).toEqual([at(151, -33)]);
  const outline = [
    [
      [1, 2],
      [3, 4],
      [5, 2],
      [1, 2],
    ],
  ];
  expect(spotsOf([hit({ geo_MD_location: { type: 'Polygon', coordinates: outline } })])).toEqual([
    at(1, 2),
  ]);
  const taken = { AB_: { fact_latitude: '-33.5', fact_longitude: '18' } };
  expect(spotsOf([hit({}, [taken, {}])])).toEqual([{ ...at(18, -33.5), path: '/x.jpg' }]);
});

test.each([
  {},
  { geo_MD_location: 'x', metadata: 'x' },
  { geo_MD_location: { coordinates: [] } },
  { geo_MD_location: { coordinates: ['8', '47'] } },
  { geo_MD_location: { coordinates: [8, 91] } },
  { metadata: [{ point: { lat: Infinity, lon: 0 } }] },
])('a hit without a place on Earth is not on the map: %j', (source) => {
  expect(spotsOf([hit(source)])).toEqual([]);
});

test('the map shows all places first, is zoomed, and never leaves the Earth', () => {
  expect(fitView([])).toEqual(WHOLE);
  expect(fitView([at(8, 47)])).toEqual({ lon: 8, lat: 47, width: 30 });
  expect(fitView([at(-170, 0), at(170, 10)])).toEqual({ lon: 0, lat: 0, width: 360 });
  expect(zoomView({ lon: 8, lat: 47, width: 30 }, 2)).toEqual({ lon: 8, lat: 47, width: 15 });
  expect(zoomView({ lon: 8, lat: 47, width: 3 }, 2).width).toBe(2);
  expect(zoomView({ lon: 100, lat: 47, width: 300 }, 0.5)).toEqual(WHOLE);
  expect(within({ lon: 400, lat: -99, width: 180 })).toEqual({ lon: 90, lat: -45, width: 180 });
});

test('places that would cover each other are one group, those outside of the view are none', () => {
  const spots = [at(8, 47), at(8.1, 47.1), at(100, 0)];
  const sizes = (width: number) =>
    groupSpots(spots, { lon: 8, lat: 47, width }).map((group) => group.spots.length);
  expect(sizes(30)).toEqual([2]);
  expect(sizes(2)).toEqual([1, 1]);
  expect(groupSpots(spots, WHOLE).map((group) => group.spots.length)).toEqual([2, 1]);
});
