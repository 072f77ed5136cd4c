import { type Box3, type PerspectiveCamera, Vector3 } from 'three';

/** Of the canvas, so that nothing touches its edge. */
const MARGIN = 1.08;

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
