import { expect, test } from 'vitest';
import { texts } from '../texts';
import { filtersTexts } from '../texts/filters';
import { compareFacts, factLabel, factByKey, FACTS, keyLabel } from './facts';

test('every fact that is offered has a label of its own', () => {
  const labels = FACTS.map((fact) => fact.label);
  expect(new Set(labels).size).toBe(labels.length);
  expect(labels.filter((label) => /fact|_/i.test(label))).toEqual([]);
  expect(labels).toContain('Points');
  expect(labels).toEqual([...labels].sort((a, b) => a.localeCompare(b)));
});

test('filters, conditions and the page of an asset call a fact the same', () => {
  expect(factLabel('texturesFound')).toBe('Textures found');
  expect(keyLabel('fact_fNumber')).toBe('Aperture');
  expect(keyLabel('width')).toBe('width');
  const { facets, triangles } = filtersTexts;
  expect(keyLabel('fact_triangles')).toBe(triangles);
  for (const key of ['fact_format', 'fact_watertight', 'fact_unit'] as const) {
    expect(keyLabel(key)).toBe(facets[key]);
  }
});

test('the types of facts are those that the product declares', () => {
  expect(factByKey('fact_points')?.type).toBe('number');
  expect(factByKey('fact_format')?.type).toBe('string');
  expect(factByKey('fact_watertight')?.type).toBe('boolean');
  expect(factByKey('points')).toBeUndefined();
});

test('all labels of facts are those of facts that exist', () => {
  const known = Object.keys(texts.facts);
  expect(known.filter((name) => !factByKey(`fact_${name}`))).toEqual([]);
});

test('facts are in the order of their use', () => {
  const names = ['format', 'meshes', 'volume', 'bones', 'unit', 'triangles'];
  const ordered = ['triangles', 'volume', 'meshes', 'bones', 'unit', 'format'];
  expect(names.sort(compareFacts)).toEqual(ordered);
});
