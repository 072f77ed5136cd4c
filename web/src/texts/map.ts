import { formatNumber, pluralize } from './formats';

export const mapTexts = {
  none: 'No asset of this search has a place. A place is metadata, or where a photograph was taken.',
  places: (places: number) => pluralize(places, 'place', 'places'),
  cut: (assets: number) => `of the first ${formatNumber(assets)} assets`,
  nearer: 'Zoom in',
  farther: 'Zoom out',
  whole: 'Whole Earth',
  source: 'Coast lines: Natural Earth',
  here: (places: number) => `${formatNumber(places)} places here`,
  ofValue: (key: string, { lat, lon }: { lat: number; lon: number }) =>
    `${key} on a map: ${side(lat, 'N', 'S')}, ${side(lon, 'E', 'W')}`,
  spot: (name: string, file?: string) => (file ? `${name}: ${file}` : name),
};

/** Degrees on one side of the Earth; on a small map, a tenth is exact enough. */
const side = (degrees: number, positive: string, negative: string) =>
  `${formatNumber(Math.round(Math.abs(degrees) * 10) / 10)}° ${degrees < 0 ? negative : positive}`;
