import { expect, test } from 'vitest';
import { linesOf, linesOfValue } from './earth';

const point = (lon: number, lat: number) => ({ lon, lat });
const line = [
  [1, 2],
  [3, 4],
];

test.each([
  [{ type: 'Point', coordinates: [8.5, 47.4, 400] }, [[point(8.5, 47.4)]]],
  [{ type: 'MultiPoint', coordinates: line }, [[point(1, 2)], [point(3, 4)]]],
  [{ type: 'LineString', coordinates: line }, [[point(1, 2), point(3, 4)]]],
  [{ type: 'MultiPolygon', coordinates: [[line]] }, [[point(1, 2), point(3, 4)]]],
  [{ geometries: [{ coordinates: [1, 2] }] }, [[point(1, 2)]]],
  [{ features: [{ geometry: { coordinates: [1, 2] } }, { geometry: null }] }, [[point(1, 2)]]],
])('a shape is lines of places: %j', (shape, lines) => {
  expect(linesOf(shape)).toEqual(lines);
  expect(linesOfValue(JSON.stringify(shape), 'geojson')).toEqual(lines);
});

const many = Array.from({ length: 10_000 }, () => [8.5, 47.4]);
test.each([
  ['lla', '{"lat": NaN, "long": 8, "alt": 0}'],
  ['lla', '{"lat": 1e999, "long": 8, "alt": 0}'],
  ['lla', '{"lat": "47", "long": "8", "alt": "0"}'],
  ['lla', 'null'],
  ['lla', '8'],
  ['geopoint', '<b>here</b>'],
  ['geopoint', '{"type": "Point", "coordinates": [181, 0]}'],
  ['geojson', '{"type": "LineString", "coordinates": [[1, 2], [3, 91]]}'],
  ['geojson', '{"type": "Polygon", "coordinates": [[[1, 2], "x", null]]}'],
  ['geojson', '{"type": "FeatureCollection", "features": [null, 5, {}]}'],
  ['geojson', '{"features": []}'],
  ['geojson', JSON.stringify({ type: 'MultiPoint', coordinates: many })],
  ['geojson', `{"coordinates": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ['json', '{"type": "Point", "coordinates": [8, 47]}'],
])(
  'a value of the type %s that has no place on Earth, or too many, has none: %.60s',
  (...value) => {
    const [type, text] = value;
    expect(linesOfValue(text, type)).toEqual([]);
  },
);
