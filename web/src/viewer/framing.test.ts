import { Box3, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { framingDistance } from './framing';

const corners = ({ min, max }: Box3) =>
  [min.x, max.x].flatMap((x) =>
    [min.y, max.y].flatMap((y) => [min.z, max.z].map((z) => new Vector3(x, y, z))),
  );

test.each([
  [[1, 1, 1], 1],
  [[10, 0.2, 10], 1.6],
  [[10, 0.2, 10], 0.5],
  [[0.1, 8, 0.1], 2],
  [[5, 5, 0], 1],
])('all corners of %j are seen at aspect %d, and the canvas is filled', (size, aspect) => {
  const box = new Box3(new Vector3(), new Vector3(...size)).translate(new Vector3(7, -3, 2));
  const camera = new PerspectiveCamera(35, aspect, 0.001, 1000);
  const direction = new Vector3(0.55, 0.45, 0.8);
  const middle = box.getCenter(new Vector3());
  const distance = framingDistance(box, direction, camera);
  camera.position.copy(middle).add(direction.clone().setLength(distance));
  camera.lookAt(middle);
  camera.updateMatrixWorld();
  const seen = corners(box).flatMap((corner) => {
    const { x, y } = corner.project(camera);
    return [Math.abs(x), Math.abs(y)];
  });
  expect(Math.max(...seen)).toBeLessThan(1);
  expect(Math.max(...seen)).toBeGreaterThan(0.85);
});
