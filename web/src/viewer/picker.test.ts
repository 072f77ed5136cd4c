import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  CylinderGeometry,
  Group,
  InstancedMesh,
  Matrix4,
  Mesh,
  type Object3D,
  PerspectiveCamera,
  Plane,
  Points,
  Vector3,
} from 'three';
import { expect, test } from 'vitest';
import { SOLIDS } from './cap';
import { Picker } from './picker';
import { aimAt, project } from './projection';

const CANVAS = { clientWidth: 800, clientHeight: 600 };

/** What is picked where a place is drawn, a few pixels beside it. */
function pickAt(root: Object3D, place: number[], plane: Plane | null = null, beside = 3) {
  const camera = new PerspectiveCamera(35, 800 / 600, 0.01, 1000);
  camera.position.set(20, 30, 40);
  camera.lookAt(0, 0, 0);
  const { x, y } = project(new Vector3(...place), camera, CANVAS) ?? { x: 0, y: 0 };
  const snap = new Picker(root, 20).pick(aimAt({ x: x + beside, y }, camera, CANVAS), plane);
  const at = snap?.place.toArray().map((value) => Math.round(value * 100) / 100 + 0);
  return { kind: snap?.kind, at, diameter: snap?.circle?.diameter };
}

const box = (): Mesh => new Mesh(new BoxGeometry(10, 10, 10));

test.each([
  ['corner', [5, 5, 5]],
  ['corner', [5, 5, -5]],
  ['middle', [5, 5, 0]],
])('a %s of a box is meant near %j, also beside its outline', (kind, place) => {
  for (const beside of [-6, 0, 6])
    expect(pickAt(box(), place, null, beside)).toMatchObject({ kind, at: place });
});

test('an edge and a surface are met where nothing better is near', () => {
  const edge = pickAt(box(), [5, 5, 3]);
  expect(edge.kind).toBe('edge');
  expect(edge.at?.slice(0, 2)).toEqual([5, 5]);
  expect(pickAt(box(), [1, 5, 2], null, 0)).toMatchObject({ kind: 'surface', at: [1, 5, 2] });
  expect(pickAt(box(), [30, 5, 5]).kind).toBeUndefined();
});

test('parts are met where they are drawn: moved, scaled, mirrored, as instances, and not if hidden', () => {
  const root = new Group();
  const part = box();
  part.scale.set(-1, 0.5, 1);
  part.position.set(8, 0, 0);
  root.add(new Group().add(part));
  expect(pickAt(root, [13, 2.5, 5])).toMatchObject({ kind: 'corner', at: [13, 2.5, 5] });
  part.visible = false;
  expect(pickAt(root, [13, 2.5, 5]).kind).toBeUndefined();
  const instances = new InstancedMesh(new BoxGeometry(2, 2, 2), undefined, 2);
  instances.setMatrixAt(0, new Matrix4().makeTranslation(0, 0, -9));
  instances.setMatrixAt(1, new Matrix4().makeTranslation(0, 6, 0));
  expect(pickAt(instances, [1, 7, 1])).toMatchObject({ kind: 'corner', at: [1, 7, 1] });
});

test('the circle of an outline is known', () => {
  const disc = new Mesh(new CylinderGeometry(6, 6, 2, 48));
  const rim = [6 * Math.cos(0.5), 1, 6 * Math.sin(0.5)];
  expect(pickAt(disc, rim, null, 0).diameter).toBeCloseTo(12, 2);
});

test('what a plane cuts away is not met, and what it closes is', () => {
  const solid = box();
  solid.layers.enable(SOLIDS);
  // The half with y < 1 remains.
  const plane = new Plane(new Vector3(0, -1, 0), 1);
  expect(pickAt(solid, [0, 1, 0], plane, 0)).toMatchObject({ kind: 'surface', at: [0, 1, 0] });
  expect(pickAt(solid, [5, -5, 5], plane).kind).toBe('corner');
  expect(pickAt(solid, [5, 5, 5], plane).at?.[1]).not.toBe(5);
});

test('the ray hits the nearest point, not one behind it', () => {
  const cloud = new BufferGeometry();
  const places = new Float32Array([0, 0, 0, -20, -30, -40, 3, 0, 0]);
  cloud.setAttribute('position', new BufferAttribute(places, 3));
  expect(pickAt(new Points(cloud), [0, 0, 0])).toMatchObject({ kind: 'point', at: [0, 0, 0] });
});
