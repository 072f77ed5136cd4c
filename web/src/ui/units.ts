import { texts } from '../texts';
import { count } from './formats';

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
export function unitOf(name: string | undefined, power: 1 | 2 | 3 = 1): string {
  if (!name) return texts.units[power - 1] ?? '';
  return (SYMBOLS[name] ?? name) + POWERS[power];
}

/** Lengths with their unit, as `1.2 × 3 × 0.4 m`. */
export const lengths = (values: readonly number[], unit: string | undefined): string =>
  `${values.map(count).join(' × ')}\u00a0${unitOf(unit)}`;

/** The value of a fact with its unit, as a person reads it. */
export function factText(name: string, value: number, facts: ReadonlyMap<string, string>): string {
  const unit = facts.get('unit');
  if (name === 'area') return `${count(value)}\u00a0${unitOf(unit, 2)}`;
  if (name === 'volume') return `${count(value)}\u00a0${unitOf(unit, 3)}`;
  if (name === 'width' || name === 'height') {
    return `${count(value)}\u00a0${facts.has('pages') ? 'pt' : 'px'}`;
  }
  return count(value);
}
