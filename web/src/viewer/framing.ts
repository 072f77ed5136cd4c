import { type Box3, type PerspectiveCamera, Vector3 } from 'three';

/** Of the canvas, so that nothing touches its edge. */
const MARGIN = 1.08;

/** Moves a camera, and what it looks at, so that it sees a box whole and no smaller than it must. */
export function frame(box: Box3, camera: PerspectiveCamera, target: Vector3): void {
  const size = box.getSize(new Vector3()).length() || 1;
  const direction = new Vector3(0.55, 0.45, 0.8);
  const distance = framingDistance(box, direction, camera);
  if (box.isEmpty()) target.set(0, 0, 0);
  else box.getCenter(target);
  camera.near = size / 1000;
  camera.far = size * 100;
  camera.position.copy(target).add(direction.setLength(distance || size * 2));
  camera.updateProjectionMatrix();
}

/**
 * How far from the middle of a box a camera stands that sees all its corners from a direction, and
 * no more than it must.
 */
export function framingDistance(
  box: Box3,
  direction: Vector3,
  camera: Pick<PerspectiveCamera, 'fov' | 'aspect' | 'up'>,
): number {
  const back = direction.clone().normalize();
  const right = new Vector3().crossVectors(camera.up, back).normalize();
  const up = new Vector3().crossVectors(back, right);
  const high = Math.tan((camera.fov * Math.PI) / 360);
  const wide = high * camera.aspect;
  const half = box.getSize(new Vector3()).multiplyScalar(0.5);
  let distance = 0;
  for (let corner = 0; corner < 8; corner++) {
    const [x, y, z] = [1, 2, 4].map((bit) => (corner & bit ? 1 : -1));
    const place = new Vector3(x, y, z).multiply(half);
    // What is nearer to the camera looks larger.
    const aside = Math.max(Math.abs(place.dot(right)) / wide, Math.abs(place.dot(up)) / high);
    distance = Math.max(distance, place.dot(back) + aside);
  }
  return distance * MARGIN;
}
