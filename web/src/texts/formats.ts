/** Numbers, sizes and dates, by the locale of the browser. */

const locale = typeof navigator === 'undefined' ? 'en' : navigator.language;
const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
/** Degrees on the earth: the sixth digit is a tenth of a metre. */
export const degrees = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 });
const digits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 17 });
const small = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });
const percents = new Intl.NumberFormat(locale, { style: 'percent' });
const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const times = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const lists = new Intl.ListFormat(locale);
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

const powers = new Intl.NumberFormat(locale, {
  notation: 'scientific',
  maximumSignificantDigits: 4,
});

/**
 * A number; a small one keeps its digits instead of becoming zero, and one that no one can count
 * the digits of is a power of ten.
 */
export const formatNumber = (value: number): string => {
  const amount = Math.abs(value);
  if (amount >= 1e15 || (amount > 0 && amount < 1e-6)) return powers.format(value);
  return (amount < 0.1 ? small : numbers).format(value);
};

const measures = new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 });
/** A measured number: four digits say enough, but those before the point are all shown. */
export const formatMeasured = (value: number): string =>
  Math.abs(value) >= 1000 ? formatNumber(Math.round(value)) : measureOf(value);
const measureOf = (value: number): string =>
  Math.abs(value) < 1e-6 ? formatNumber(value) : measures.format(value);

/** A number with all its digits, as someone entered it. */
export const formatExactNumber = (value: number): string => digits.format(value);

export const formatPercent = (fraction: number): string => percents.format(fraction);

export const pluralize = (value: number, singular: string, plural: string): string =>
  `${formatNumber(value)} ${value === 1 ? singular : plural}`;

export const formatList = (items: readonly string[]): string => lists.format(items);

export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  const shown = unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
  return `${formatNumber(shown)} ${UNITS[unit] ?? ''}`;
}

export const formatDate = (iso: string): string => dated(iso, days);
export const formatDateTime = (iso: string): string => dated(iso, times);

/** From one time to another, without the day twice; the end may be empty. */
export function formatPeriod(start: string, end: string): string {
  const [from, to] = [new Date(start), new Date(end)];
  const isPeriod = !Number.isNaN(from.valueOf()) && to >= from;
  return isPeriod ? times.formatRange(from, to) : formatDateTime(start || end);
}

function dated(iso: string, format: Intl.DateTimeFormat): string {
  const date = new Date(iso);
  return Number.isNaN(date.valueOf()) ? iso : format.format(date);
}

/** The order of names: without case and accents, and of numbers within them by their value. */
export const compareNames = new Intl.Collator(locale, { numeric: true, sensitivity: 'base' })
  .compare;

const BLANK = String.raw`[\s\u115f\u1160\u2800\u3164\uffa0]`;
const BLANK_ENDS = new RegExp(`^${BLANK}+|${BLANK}+$`, 'g');

/**
 * A name with what would not be seen in it: marks that reorder its letters (`\u202egnp.exe` reads as
 * `exe.png`), and spaces at its ends.
 */
export const visibleName = (name: string): string =>
  name
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')
    .replace(BLANK_ENDS, (blank) => '␣'.repeat(blank.length));
