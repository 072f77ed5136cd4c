import { MathUtils, type Vector3 } from 'three';
import { formatMeasured } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { formatLength } from '../ui/units';
import { AXES, type ModelUnits } from './modelUnits';
import type { Snap } from './snap';

export type Measure = 'distance' | 'angle';

export const POINTS_OF: Record<Measure, number> = { distance: 2, angle: 3 };

const NOISE = 1e-6;

/** What is known of measured points: in one line beside them, and all that it consists of. */
export interface Result {
  label: string;
  details: string;
}

/** The result of as many points as a measure has; null of fewer. */
export function resultOf(
  measure: Measure,
  points: readonly Snap[],
  units: ModelUnits,
): Result | null {
  const [first, second, third] = points.map(({ place }) => place);
  if (!first || !second) return null;
  if (measure === 'angle') {
    const angle = third && angleAt(first, second, third);
    if (angle === undefined) return null;
    const label = `${formatMeasured(angle)}°`;
    return { label, details: viewerTexts.angleIs(label) };
  }
  const distance = first.distanceTo(second);
  const label = formatLength(distance / units.perUnit, units.name);
  const along = AXES.map((axis) => {
    const drawn = units.toDrawnAxis(axis);
    const length = Math.abs(second[drawn] - first[drawn]);
    // What is left of it by rounding is nothing.
    const measured = length < distance * NOISE ? 0 : length / units.perUnit;
    return `${axis} ${formatLength(measured, units.name)}`;
  });
  return { label, details: `${viewerTexts.distanceIs(label)}, ${viewerTexts.alongAxes(along)}` };
}

/** In degrees, between the directions from a corner to two other places. */
function angleAt(first: Vector3, corner: Vector3, third: Vector3): number {
  const angle = first.clone().sub(corner).angleTo(third.clone().sub(corner));
  return MathUtils.radToDeg(angle);
}

/** What a place is; of one on a circle, also how large that is. */
export function placeName({ kind, circle }: Snap, units: ModelUnits): string {
  const name = viewerTexts.placeNames[kind];
  if (!circle) return name;
  const length = formatLength(circle.diameter / units.perUnit, units.name);
  return `${name}, ${viewerTexts.diameter(length)}`;
}
