import { type Box3, Plane, Vector3 } from 'three';

/** A section of a model: to which direction it faces, where on the way through the box, and its side. */
export interface Section {
  direction: Vector3;
  fraction: number;
  isFlipped: boolean;
}

/** From where to where a box reaches along a direction of length 1. */
export function extentAlong({ min, max }: Box3, direction: Vector3): [number, number] {
  const near = new Vector3();
  const far = new Vector3();
  for (const axis of ['x', 'y', 'z'] as const) {
    const isForward = direction[axis] >= 0;
    near[axis] = isForward ? min[axis] : max[axis];
    far[axis] = isForward ? max[axis] : min[axis];
  }
  return [near.dot(direction), far.dot(direction)];
}

/** The plane of a section: what is before it remains, or what is behind it. */
export function planeOf(box: Box3, { direction, fraction, isFlipped }: Section): Plane {
  const [low, high] = extentAlong(box, direction);
  const plane = new Plane(direction.clone().negate(), low + (high - low) * fraction);
  return isFlipped ? plane.negate() : plane;
}

/** The section that a plane is, of a side that faces away from its normal. */
export function sectionOf(box: Box3, plane: Plane): Section {
  const direction = plane.normal.clone().negate();
  const [low, high] = extentAlong(box, direction);
  const fraction = high > low ? (plane.constant - low) / (high - low) : 0.5;
  return { direction, fraction: Math.min(Math.max(fraction, 0), 1), isFlipped: false };
}
