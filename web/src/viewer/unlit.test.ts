import {
  BufferAttribute,
  BufferGeometry,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  Points,
  PointsMaterial,
} from 'three';
import { expect, test } from 'vitest';
import { hasSurfaces, prepareUnlit } from './unlit';

function cloud(positions: number[][], material = new PointsMaterial()): Points {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(positions.flat()), 3));
  return new Points(geometry, material);
}

function colorsOf({ geometry, material }: Points): number[][] {
  const { color } = geometry.attributes;
  if (!color || !(material as PointsMaterial).vertexColors) return [];
  return Array.from({ length: color.count }, (_, at) => [
    color.getX(at),
    color.getY(at),
    color.getZ(at),
  ]);
}

const prepared = (...clouds: Points[]): Points[] => {
  prepareUnlit(new Group().add(...clouds));
  return clouds;
};

const column = Array.from({ length: 101 }, (_, at) => [0, at, 0]);
const isLow = ([red = 0, , blue = 0]: number[] = []) => blue > 2 * red;
const isHigh = ([red = 0, , blue = 0]: number[] = []) => red > 2 * blue;

test('a cloud without colours is coloured by its height', () => {
  const [colored] = prepared(cloud(column));
  const colors = colorsOf(colored as Points);
  expect(colors).toHaveLength(101);
  expect(isLow(colors[0])).toBe(true);
  expect(isHigh(colors[100])).toBe(true);
  expect(new Set(colors.map(String)).size).toBeGreaterThan(50);
  expect(((colored as Points).material as PointsMaterial).color.getHex()).toBe(0xffffff);
});

test('the height is that in the scene, where y is up, and is one for all parts', () => {
  const turned = cloud(column.map(([x = 0, y = 0, z = 0]) => [x, -z, y]));
  turned.rotation.x = -Math.PI / 2; // its z becomes y
  const above = cloud([[0, 0, 0]]);
  above.position.y = 100;
  const [first, other] = prepared(turned, above).map(colorsOf);
  expect(isLow(first?.[0])).toBe(true);
  expect(isHigh(first?.[100])).toBe(true);
  expect(other?.[0]).toEqual(first?.[100]);
});

test('a single point far above does not take the colours of all others', () => {
  const colors = colorsOf(prepared(cloud([...column, [0, 1e6, 0]]))[0] as Points);
  expect(isLow(colors[0])).toBe(true);
  expect(isHigh(colors[100])).toBe(true);
});

test('a flat cloud has one colour, that is not white', () => {
  const colors = colorsOf(prepared(cloud(column.map(([, y = 0]) => [y, 5, 0])))[0] as Points);
  expect(new Set(colors.map(String)).size).toBe(1);
  expect(Math.min(...(colors[0] ?? []))).toBeLessThan(0.5);
});

test('what has colours keeps them', () => {
  const own = cloud(column, new PointsMaterial({ vertexColors: true }));
  const colors = new BufferAttribute(new Float32Array(303).fill(0.7), 3);
  own.geometry.setAttribute('color', colors);
  const red = cloud(column, new PointsMaterial({ color: 0xcc2222 }));
  prepared(own, red);
  expect(own.geometry.attributes.color).toBe(colors);
  expect(red.geometry.attributes.color).toBeUndefined();
});

test('white and grey lines are seen on a light and on a dark stage', () => {
  const lines = [0xffffff, 0xcccccc, 0xcc2222].map((color) => {
    const { geometry } = cloud(column);
    return new LineSegments(geometry, new LineBasicMaterial({ color }));
  });
  prepareUnlit(new Group().add(...lines));
  const colors = lines.map(({ material }) => material.color.getHex());
  expect(colors).toEqual([0x737c8a, 0x737c8a, 0xcc2222]);
});

test('only what has surfaces is drawn as a wireframe or by its normals', () => {
  expect(hasSurfaces(cloud(column))).toBe(false);
  const group = new Group();
  group.add(new Mesh());
  expect(hasSurfaces(group)).toBe(true);
});
