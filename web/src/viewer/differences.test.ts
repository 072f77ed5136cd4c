import { BoxGeometry, Group, Mesh } from 'three';
import { expect, test } from 'vitest';
import { differencesOf } from './differences';

type Row = [name: string, side: number, x: number];

const model = (rows: readonly Row[]) =>
  new Group().add(
    ...rows.map(([name, side, x]) => {
      const mesh = new Mesh(new BoxGeometry(side, side, side));
      mesh.userData = { name };
      mesh.position.x = x;
      return mesh;
    }),
  );

test.each<[string, Row[], Row[], [number[], number[], number[]]]>([
  ['the same', [['a', 1, 0]], [['a', 1, 0]], [[], [], []]],
  [
    'a new part',
    [['a', 1, 0]],
    [
      ['a', 1, 0],
      ['b', 2, 5],
    ],
    [[], [5], []],
  ],
  [
    'another part',
    [
      ['a', 1, 0],
      ['b', 2, 5],
    ],
    [
      ['a', 1, 0],
      ['c', 3, 7],
    ],
    [[5], [7], []],
  ],
  ['a moved part', [['a', 1, 0]], [['a', 1, 4]], [[], [], [0, 4]]],
  ['a renamed part', [['a', 1, 0]], [['z', 1, 0]], [[], [], []]],
  [
    'parts without names',
    [
      ['', 1, 0],
      ['', 2, 3],
    ],
    [
      ['', 2, 3],
      ['', 1, 9],
    ],
    [[0], [9], []],
  ],
  [
    'parts of one name',
    [
      ['a', 1, 0],
      ['a', 1, 3],
    ],
    [
      ['a', 1, 0],
      ['a', 1, 4],
    ],
    [[], [], [3, 4]],
  ],
])('%s', (_, before, after, expected) => {
  const { removed, added, changed } = differencesOf(model(before), model(after));
  const places = [removed, added, changed].map((meshes) => meshes.map((mesh) => mesh.position.x));
  expect(places).toEqual(expected);
});
