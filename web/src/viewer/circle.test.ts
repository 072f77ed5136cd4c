import {
  BoxGeometry,
  type BufferGeometry,
  CylinderGeometry,
  SphereGeometry,
  Triangle,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { circleOf, sharpEdges, type Edge } from './circle';

const PRECISION = 1e-6;

function trianglesOf(geometry: BufferGeometry): Triangle[] {
  const { index, attributes } = geometry;
  const corner = (at: number) =>
    new Vector3().fromBufferAttribute(attributes.position as never, index?.getX(at) ?? at);
  return Array.from(
    { length: (index?.count ?? 0) / 3 },
    (_, at) => new Triangle(corner(at * 3), corner(at * 3 + 1), corner(at * 3 + 2)),
  );
}

const walk = (edges: readonly Edge[]) =>
  circleOf(edges[0] as Edge, (corner) =>
    edges.filter(({ from, to }) => [from, to].some((end) => end.distanceTo(corner) < PRECISION)),
  );

/** Edges along a way of points. */
const chain = (points: Vector3[]): Edge[] =>
  points.slice(1).map((to, at) => ({ from: points[at] as Vector3, to }));

const arc = (radius: number, from: number, to: number, steps: number) =>
  Array.from({ length: steps + 1 }, (_, at) => {
    const angle = from + ((to - from) * at) / steps;
    return new Vector3(5 + radius * Math.cos(angle), radius * Math.sin(angle), 3);
  });

test.each([
  ['a box', new BoxGeometry(1, 2, 3), 12],
  ['a cylinder', new CylinderGeometry(1, 1, 2, 32), 64],
  ['a ball', new SphereGeometry(1, 48, 32), 0],
])('the sharp edges of %s', (_, geometry, count) => {
  expect(sharpEdges(trianglesOf(geometry), PRECISION)).toHaveLength(count);
});

test.each([6, 8, 33, 256])('the outline of a cylinder of %d sides is a circle', (sides) => {
  const geometry = new CylinderGeometry(2, 2, 10, sides).translate(7, 0, -3);
  const top = sharpEdges(trianglesOf(geometry), PRECISION).filter(
    ({ from, to }) => from.y > 4.9 && to.y > 4.9,
  );
  const circle = walk(top);
  expect(circle?.diameter).toBeCloseTo(4, 3);
  expect(circle?.centre.distanceTo(new Vector3(7, 5, -3))).toBeLessThan(1e-3);
});

test('an arc between straight edges is a part of a circle, and straight edges are none', () => {
  const bend = arc(2, 0, Math.PI / 2, 8);
  const slot = [new Vector3(7, -4, 3), ...bend, new Vector3(1, 2, 3), new Vector3(-9, 2, 3)];
  const edges = chain(slot);
  const circle = walk([edges[4] as Edge, ...edges]);
  expect(circle?.diameter).toBeCloseTo(4, 3);
  expect(circle?.centre.distanceTo(new Vector3(5, 0, 3))).toBeLessThan(1e-3);
  expect(walk([edges[10] as Edge, ...edges])).toBeNull();
});

test('an outline of four sides, and a spiral, are no circles', () => {
  expect(walk(sharpEdges(trianglesOf(new BoxGeometry(1, 1, 1)), PRECISION))).toBeNull();
  const spiral = arc(1, 0, 6, 60).map((point, at) => point.setZ(at / 2));
  expect(walk(chain(spiral))).toBeNull();
});
