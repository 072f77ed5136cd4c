import { expect, test } from 'vitest';
import { formatDimensions, formatFact, formatLengths, formatPhoto, unitSymbol } from './units';

test('lengths, areas and volumes have the unit of the file, or a note that it names none', () => {
  const facts = new Map([['unit', 'millimeter']]);
  expect(formatLengths([1, 2.5, 3], 'millimeter')).toBe('1 × 2.5 × 3\u00a0mm');
  expect(formatFact('area', 12, facts)).toBe('12\u00a0mm²');
  expect(formatFact('volume', 12, facts)).toBe('12\u00a0mm³');
  expect(formatFact('area', 12, new Map())).toBe('12\u00a0square units');
  expect(formatLengths([1, 1, 1], undefined)).toBe('1 × 1 × 1\u00a0units');
  expect(unitSymbol('furlong', 2)).toBe('furlong²');
});

test('what is small in metres is shown in millimetres, and square or cubic centimetres', () => {
  const facts = new Map([['unit', 'metre']]);
  expect(formatLengths([0.052, 0.0156, 0.052], 'metre')).toBe('52 × 15.6 × 52\u00a0mm');
  expect(formatFact('area', 0.0115, facts)).toBe('115\u00a0cm²');
  expect(formatFact('volume', 0.0000149, facts)).toBe('14.9\u00a0cm³');
  expect(formatLengths([1.2, 0.05, 0.4], 'metre')).toBe('1.2 × 0.05 × 0.4\u00a0m');
  expect(formatFact('volume', 0.017, facts)).toBe('0.017\u00a0m³');
  expect(formatFact('volume', 2, facts)).toBe('2\u00a0m³');
});

test('measures have four digits, and all before the point', () => {
  expect(formatLengths([12.34567, 0.123456, 45_678.9], 'millimeter')).toBe(
    '12.35 × 0.1235 × 45,679\u00a0mm',
  );
});

test('amounts beyond counting are powers of ten', () => {
  expect(formatFact('volume', 6e21, new Map())).toBe('6E21\u00a0cubic units');
  expect(formatFact('area', 2.2e-11, new Map())).toBe('2.2E-11\u00a0square units');
});

test('images are measured in pixels, pages in points', () => {
  const edges = [
    ['width', '1640'],
    ['height', '480'],
  ] as const;
  expect(formatDimensions(new Map(edges))).toBe('1,640 × 480\u00a0px');
  expect(formatDimensions(new Map([...edges, ['pages', '2']]))).toBe('1,640 × 480\u00a0pt');
  expect(formatDimensions(new Map([['width', '1640']]))).toBe('');
  const sides = ['sizeX', 'sizeY', 'sizeZ'].map((name) => [name, '2'] as const);
  expect(formatDimensions(new Map([...sides, ['unit', 'metre']]))).toBe('2 × 2 × 2\u00a0m');
  expect(formatFact('triangles', 12_345, new Map())).toBe('12,345');
});

test('photographs are described as photographers do', () => {
  const facts = new Map([
    ['camera', 'Canon EOS R5'],
    ['exposureTime', '0.016666666666666666'],
    ['fNumber', '2.8'],
    ['iso', '100'],
    ['focalLength', '35'],
    ['latitude', '-33.517323'],
  ]);
  expect(formatPhoto(facts)).toBe('Canon EOS R5 · 35\u00a0mm · f/2.8 · 1/60\u00a0s · ISO 100');
  expect(formatPhoto(new Map([['width', '640']]))).toBe('');
  expect(formatFact('exposureTime', 2.5, facts)).toBe('2.5\u00a0s');
  expect(formatFact('latitude', -33.517323, facts)).toBe('-33.517323°');
  expect(formatFact('duration', 65.2, facts)).toBe('1:05\u00a0min');
});
