import { Group, Mesh, type Object3D } from 'three';
import { expect, test } from 'vitest';
import { isolatePart, listParts, showAllParts } from './parts';

function named<T extends Object3D>(node: T, name: string): T {
  node.name = name;
  return node;
}

function model() {
  const root = new Group();
  const arm = named(new Group(), 'arm');
  const bolt = named(new Mesh(), 'M8_bolt');
  bolt.userData = { name: 'M8 bolt' };
  const nut = new Mesh();
  const base = named(new Mesh(), 'base');
  root.add(new Group().add(arm.add(bolt, nut)), base, named(new Group(), 'lights'));
  return { root, arm, bolt, nut, base };
}

test('parts are listed by the names of the file; nodes without geometry are none', () => {
  const parts = listParts(model().root).map(({ name, depth }) => [name, depth]);
  expect(parts).toEqual([
    ['arm', 0],
    ['M8 bolt', 1],
    ['Part 3', 1],
    ['base', 0],
  ]);
});

test('a part is shown alone, with what it is in, and then all again', () => {
  const { root, arm, bolt, nut, base } = model();
  isolatePart(root, bolt);
  expect([root, arm, bolt, nut, base].map(({ visible }) => visible)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
  showAllParts(root);
  expect([nut, base].every(({ visible }) => visible)).toBe(true);
});
