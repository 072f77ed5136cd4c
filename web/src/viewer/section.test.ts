import { Box3, BoxGeometry, Group, Mesh, PlaneGeometry, SphereGeometry, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { solidsOf } from './cap';
import { planeOf, sectionOf } from './sectionPlane';

test.each([
  [[1, 0, 0], 0.5, false, [-3, 0, 0], [9, 0, 0]],
  [[1, 0, 0], 0.5, true, [9, 0, 0], [-3, 0, 0]],
  [[0, -1, 0], 0.25, false, [0, 3.5, 0], [0, -3, 0]],
  [[0.6, 0.8, 0], 0.5, false, [0, 0, 0], [9, 9, 0]],
])('a section along %j at %d, flipped: %s', (direction, fraction, isFlipped, kept, cut) => {
  const box = new Box3(new Vector3(-4, -4, -1), new Vector3(10, 4, 1));
  const section = { direction: new Vector3(...direction), fraction, isFlipped };
  const plane = planeOf(box, section);
  expect(plane.distanceToPoint(new Vector3(...kept))).toBeGreaterThan(0);
  expect(plane.distanceToPoint(new Vector3(...cut))).toBeLessThan(0);
  const again = planeOf(box, sectionOf(box, plane));
  expect(again.constant).toBeCloseTo(plane.constant);
  expect(again.normal.distanceTo(plane.normal)).toBeCloseTo(0);
});

test('only what encloses a volume is closed where it is cut', () => {
  const solids = [new BoxGeometry(), new SphereGeometry(2)].map((shape) => new Mesh(shape));
  const sheet = new Mesh(new PlaneGeometry());
  // A box whose sides have two materials is two siblings.
  const shape = new BoxGeometry().toNonIndexed();
  const halves = [0, 18].map((start) => {
    const half = shape.clone();
    half.setIndex(Array.from({ length: 18 }, (_, at) => start + at));
    return new Mesh(half);
  });
  const root = new Group().add(...solids, new Group().add(sheet), new Group().add(...halves));
  const ids = (meshes: Mesh[]) => meshes.map(({ id }) => id).sort();
  expect(ids(solidsOf(root))).toEqual(ids([...solids, ...halves]));
});
