import { type PerspectiveCamera, Vector3 } from 'three';

const TURN = 0.2;
const NEARER = 0.85;
/** Of the distance to the target. */
const STEP = 0.25;

const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** The direction of an arrow key, to the right and downwards. */
export const arrowDirection = (key: string): [number, number] | undefined => ARROWS[key];

/**
 * Turns a camera about its target by an arrow key, moves both with Shift, or zooms by + and −.
 * Returns whether the key does any of it.
 */
export function moveByKey(
  key: string,
  isShifted: boolean,
  camera: PerspectiveCamera,
  target: Vector3,
): boolean {
  const offset = camera.position.clone().sub(target);
  const arrow = arrowDirection(key);
  if (arrow && isShifted) {
    const [right, up] = [0, 1].map((column) =>
      new Vector3().setFromMatrixColumn(camera.matrix, column),
    ) as [Vector3, Vector3];
    const step = offset.length() * STEP * TURN;
    target.addScaledVector(right, arrow[0] * step).addScaledVector(up, -arrow[1] * step);
  } else if (arrow) {
    offset.applyAxisAngle(new Vector3(0, 1, 0), arrow[0] * TURN);
    const side = new Vector3().crossVectors(camera.up, offset).normalize();
    offset.applyAxisAngle(side, arrow[1] * TURN);
  } else if (key === '+' || key === '=') offset.multiplyScalar(NEARER);
  else if (key === '-') offset.divideScalar(NEARER);
  else return false;
  camera.position.copy(target).add(offset);
  return true;
}
