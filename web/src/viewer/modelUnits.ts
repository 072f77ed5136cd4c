import { drawnAxis, type Axis } from './axes';
import type { ShownModel } from './scene';

export const AXES: readonly Axis[] = ['x', 'y', 'z'];

/** The unit and the axes of a file, whose model may be drawn in others. */
export interface ModelUnits {
  name: string | undefined;
  /** Lengths of the scene per unit of the file. */
  perUnit: number;
  /** The axis of the scene along which an axis of the file is drawn. */
  toDrawnAxis: (axis: Axis) => Axis;
}

export function modelUnits(
  shown: Pick<ShownModel, 'derived' | 'loaded'>,
  facts: ReadonlyMap<string, string> | undefined,
): ModelUnits {
  // Streams are drawn in the unit of their file, turned as a converted model.
  const isStream = shown.loaded.stream !== undefined;
  const isDerived = shown.derived || isStream;
  return {
    name: facts?.get('unit') ?? (isDerived ? undefined : 'metre'),
    // A GLB is in metres: that of a file in millimetres is a thousand times smaller.
    perUnit: isStream ? 1 : Number(facts?.get('metresPerUnit') ?? 1) || 1,
    toDrawnAxis: (axis) => drawnAxis(axis, isDerived, facts?.get('upAxis')),
  };
}
