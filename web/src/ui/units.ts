import { texts } from '../texts';
import { formatDateTime, formatMeasured, formatNumber, degrees } from '../texts/formats';

const SYMBOLS: Record<string, string> = {
  micron: 'µm',
  millimeter: 'mm',
  centimeter: 'cm',
  metre: 'm',
  inch: 'in',
  foot: 'ft',
  yard: 'yd',
};
const POWERS = ['', '', '²', '³'] as const;

/** A unit as its symbol; of a file that names none, in words. */
export function unitSymbol(name: string | undefined, power: 1 | 2 | 3 = 1): string {
  if (!name) return texts.units[power - 1] ?? '';
  return (SYMBOLS[name] ?? name) + POWERS[power];
}

/** Lengths with their unit, as `1.2 × 3 × 0.4 m`. */
export const formatLengths = (values: readonly number[], unit: string | undefined): string =>
  formatMeasure(values, unit, 1);

/** How large a model, an image or a page is; '' if that is not known. */
export function formatDimensions(facts: ReadonlyMap<string, string>): string {
  const values = (names: readonly string[]) => names.map((name) => facts.get(name));
  const [sides, edges] = [values(['sizeX', 'sizeY', 'sizeZ']), values(['width', 'height'])];
  if (sides.every(Boolean)) return formatLengths(sides.map(Number), facts.get('unit'));
  if (!edges.every(Boolean)) return '';
  return `${edges.map((edge) => formatNumber(Number(edge))).join(' × ')}\u00a0${facts.has('pages') ? 'pt' : 'px'}`;
}

/** Metres of a smaller unit, its name, and below which value it is used. */
const SMALLER = {
  1: [1e-3, 'millimeter', 0.1],
  2: [1e-2, 'centimeter', 0.1],
  3: [1e-2, 'centimeter', 0.01],
} as const;

/** Values with their unit; of metres, in millimetres or centimetres where all are small. */
function formatMeasure(
  values: readonly number[],
  unit: string | undefined,
  power: 1 | 2 | 3,
): string {
  const [metres, smaller, limit] = SMALLER[power];
  const isSmall = unit === 'metre' && Math.max(...values.map(Math.abs)) < limit;
  const by = isSmall ? metres ** power : 1;
  const shown = values.map((value) => formatMeasured(value / by)).join(' × ');
  return `${shown}\u00a0${unitSymbol(isSmall ? smaller : unit, power)}`;
}

/** A length that was measured, with all digits that it has; one of few metres in millimetres. */
export function formatLength(value: number, unit: string | undefined): string {
  const [metres, smaller, limit] = SMALLER[1];
  const isSmall = unit === 'metre' && value !== 0 && Math.abs(value) < limit;
  const shown = formatNumber(isSmall ? value / metres : value);
  return `${shown}\u00a0${unitSymbol(isSmall ? smaller : unit)}`;
}

/** The value of a fact with its unit, as a person reads it. */
export function formatFact(
  name: string,
  value: number,
  facts: ReadonlyMap<string, string>,
): string {
  const unit = facts.get('unit');
  if (name === 'area') return formatMeasure([value], unit, 2);
  if (name === 'volume') return formatMeasure([value], unit, 3);
  return MEDIA[name]?.(value) ?? formatNumber(value);
}

/** A fact as it is stored, as a person reads it. */
export function formatFactValue(
  name: string,
  value: string,
  facts: ReadonlyMap<string, string>,
): string {
  if (value.trim() !== '' && Number.isFinite(Number(value))) {
    return formatFact(name, Number(value), facts);
  }
  // A time of no zone is that of the camera's clock, and is shown as it is.
  if (name === 'taken' && value) return formatDateTime(value);
  if (value === 'true') return texts.find.yes;
  return value === 'false' ? texts.find.no : value;
}

/** Facts of photographs and films, as photographers write them. */
const MEDIA: Record<string, (value: number) => string> = {
  exposureTime: (value) =>
    `${value < 0.3 ? `1/${formatNumber(Math.round(1 / value))}` : formatNumber(value)}\u00a0s`,
  fNumber: (value) => `f/${formatNumber(value)}`,
  focalLength: (value) => `${formatNumber(value)}\u00a0mm`,
  duration: (value) =>
    value < 60
      ? `${formatNumber(value)}\u00a0s`
      : `${Math.floor(value / 60)}:${String(Math.floor(value % 60)).padStart(2, '0')}\u00a0min`,
  frameRate: (value) => `${formatNumber(value)}\u00a0fps`,
  sampleRate: (value) => `${formatNumber(value)}\u00a0Hz`,
  rotation: (value) => `${formatNumber(value)}°`,
  latitude: (value) => `${degrees.format(value)}°`,
  longitude: (value) => `${degrees.format(value)}°`,
};

/** Camera, lens and exposure of a photograph on one line; '' if nothing is known of them. */
export function formatPhoto(facts: ReadonlyMap<string, string>): string {
  const values = ['camera', 'lens', 'focalLength', 'fNumber', 'exposureTime', 'iso'].map((name) => {
    const value = facts.get(name);
    if (value === undefined || name === 'camera' || name === 'lens') return value;
    return name === 'iso' ? `${texts.facts.iso} ${value}` : formatFact(name, Number(value), facts);
  });
  return values.filter(Boolean).join(' · ');
}
