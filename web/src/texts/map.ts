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
  spot: (name: string, file?: string) => (file ? `${name}: ${file}` : name),
};
