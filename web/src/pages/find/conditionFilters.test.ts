import { expect, test } from 'vitest';
import { ApiError, errorText } from '../../api/errors';
import { filtersTexts } from '../../texts/filters';
import { filterOf, filtersOf, ofConditions, opsOf, problemOf } from './conditionFilters';
import type { Condition } from './findState';

const condition = (key: string, op: Condition['op'], value?: string): Condition => ({
  key,
  op,
  value,
});

test('a fact is searched for with its own type, and metadata with that of the value', () => {
  expect(filterOf(condition('fact_points', 'gte', '12'))).toEqual({
    key: 'fact_points',
    op: 'gte',
    value: 12,
    type: 'number',
  });
  expect(filterOf(condition('fact_generator', 'eq', '2024'))).toMatchObject({
    value: '2024',
    type: 'string',
  });
  expect(filterOf(condition('fact_watertight', 'eq', 'true'))).toMatchObject({
    value: true,
    type: 'boolean',
  });
  expect(filterOf(condition('width', 'eq', '12'))).toMatchObject({ value: 12, type: 'number' });
  expect(filterOf(condition('bought', 'lte', '2026-01-31'))).toMatchObject({ type: 'date' });
  expect(filterOf(condition('material', 'eq', 'oak'))).toMatchObject({ type: 'string' });
  expect(filterOf(condition('fact_points', 'exists'))).toEqual({
    key: 'fact_points',
    op: 'exists',
    value: true,
  });
});

test('a day is the whole day, as an equal value and as the last one', () => {
  const day = '2024-05-17';
  const end = `${day}T23:59:59.999`;
  const filter = (op: Condition['op'], value: string) =>
    filterOf(condition('fact_taken', op, value));
  expect(filter('eq', day)).toMatchObject({ op: 'between', value: [day, end], type: 'date' });
  expect(filter('lte', day)).toMatchObject({ op: 'lte', value: end });
  expect(filter('gte', day)).toMatchObject({ op: 'gte', value: day });
  expect(filter('lte', `${day}T12:00`)).toMatchObject({ op: 'lte', value: `${day}T12:00` });
});

test('what a condition cannot mean is said with the label of the fact', () => {
  for (const [refused, words] of [
    [condition('fact_points', 'gte', 'many'), filtersTexts.needsNumber('Points')],
    [condition('fact_points', 'gte'), filtersTexts.needsNumber('Points')],
    [condition('fact_watertight', 'eq', 'maybe'), filtersTexts.needsTruth('Watertight')],
    [condition('fact_format', 'gte', '1'), filtersTexts.needsText('Format')],
    [condition('fact_colour', 'exists'), filtersTexts.noFact('fact_colour')],
    [condition('material', 'gte', 'oak'), filtersTexts.needsOrder('material')],
    [condition('fact_points', 'lte', '1e3'), null],
    [condition('material', 'eq', 'oak'), null],
    [condition('height', 'gte', '12'), null],
    [condition('fact_focalLength', 'exists'), null],
  ] as const) {
    expect(problemOf(refused)).toBe(words);
  }
  expect(opsOf('string')).toEqual(['eq', 'exists']);
});

test('a link with such a condition is refused before it is sent, and not as what may pass', () => {
  expect(() => filtersOf([condition('material', 'eq', 'oak')])).not.toThrow();
  const broken = [condition('fact_points', 'gte', 'many')];
  expect(() => filtersOf(broken)).toThrow(ApiError);
  expect(() => filtersOf(broken)).toThrow(filtersTexts.needsNumber('Points'));
});

test('a refusal of the server names the fact', () => {
  const filters = [
    { key: 'fact_triangles', op: 'between' as const, value: [2, 1] },
    { key: 'note', op: 'eq' as const, value: 'x' },
  ];
  const shown = (field: string, message: string) => {
    const body = { code: 'InvalidInput', message: `${field}: ${message}` };
    return errorText(ofConditions(ApiError.of(new Response(null, { status: 400 }), body), filters));
  };
  expect(shown('metadataFilters.0.value', 'must be a number')).toBe(
    'The condition on “Triangles” must be a number.',
  );
  expect(shown('metadataFilters.1.value', 'a text can have at most 1024 characters')).toBe(
    'The condition on “note”: a text can have at most 1024 characters.',
  );
  expect(shown('query', 'must not be empty')).toBe('The search must not be empty.');
});
