export type Axis = 'x' | 'y' | 'z';

/** A converted model is turned so that its up axis is y: the axes of its file, as it is drawn. */
const TURNED: Record<string, Record<Axis, Axis>> = {
  x: { x: 'y', y: 'x', z: 'z' },
  z: { x: 'x', y: 'z', z: 'y' },
};

/** Returns the axis of the drawn model along which an axis of its file lies. */
export const drawnAxis = (axis: Axis, derived: boolean, upAxis: string | undefined): Axis =>
  (derived && TURNED[upAxis ?? '']?.[axis]) || axis;
