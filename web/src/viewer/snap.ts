import { type Ray, type Triangle, Vector3 } from 'three';
import { circleOf, sharpEdges, type Circle, type Edge } from './circle';

export type SnapKind = 'corner' | 'middle' | 'edge' | 'centre' | 'surface' | 'point';

/** A place of a model that is measured. */
export interface Snap {
  kind: SnapKind;
  place: Vector3;
  /** The circle whose outline is near. */
  circle?: Circle | null;
}

/** Triangles of a model, as far as they are near to a place. */
export type TrianglesNear = (place: Vector3, radius: number) => Triangle[];

/**
 * The place on a model that a person means who points at a surface: a corner that is near, else the
 * middle of an edge, else a place on it, else the surface itself.
 */
export function snapTo(
  ray: Ray,
  hit: Vector3,
  radius: number,
  precision: number,
  trianglesNear: TrianglesNear,
): Snap {
  // Farther than a corner may be beside the ray, because it may be behind the surface, too.
  const triangles = trianglesNear(hit, 2 * radius);
  const edges = sharpEdges(triangles, precision).filter(
    ({ from, to }) => distanceToEdge(hit, from, to) < 2 * radius,
  );
  const nearest = (places: Vector3[]): Vector3 | null => {
    const distances = places.map((place) => ray.distanceToPoint(place));
    const least = Math.min(...distances);
    return least < radius ? (places[distances.indexOf(least)] ?? null) : null;
  };
  const edge = nearestEdge(ray, edges, radius);
  const circle =
    edge &&
    circleOf(edge, (corner) => {
      const around = sharpEdges(trianglesNear(corner, precision), precision);
      const isHere = (end: Vector3) => end.distanceTo(corner) <= 2 * precision;
      return around.filter(({ from, to }) => isHere(from) || isHere(to));
    });
  // A scan has no edges: all its corners are measured points.
  const corners = edges.length
    ? edges.flatMap(({ from, to }) => [from, to])
    : triangles.flatMap(({ a, b, c }) => [a, b, c]);
  const corner = nearest(corners);
  if (corner) return { kind: 'corner', place: corner, circle };
  const middle = nearest(edges.map(middleOf));
  if (middle) return { kind: 'middle', place: middle, circle };
  if (edge) return { kind: 'edge', place: placeOnEdge(ray, edge), circle };
  return { kind: 'surface', place: hit };
}

const middleOf = ({ from, to }: Edge): Vector3 => from.clone().lerp(to, 0.5);

function nearestEdge(ray: Ray, edges: readonly Edge[], radius: number): Edge | null {
  let [nearest, least]: [Edge | null, number] = [null, radius * radius];
  for (const edge of edges) {
    const distance = ray.distanceSqToSegment(edge.from, edge.to);
    if (distance < least) [nearest, least] = [edge, distance];
  }
  return nearest;
}

function placeOnEdge(ray: Ray, { from, to }: Edge): Vector3 {
  const place = new Vector3();
  ray.distanceSqToSegment(from, to, undefined, place);
  return place;
}

function distanceToEdge(place: Vector3, from: Vector3, to: Vector3): number {
  const along = to.clone().sub(from);
  const fraction = place.clone().sub(from).dot(along) / (along.lengthSq() || 1);
  const clamped = Math.min(Math.max(fraction, 0), 1);
  return place.distanceTo(from.clone().addScaledVector(along, clamped));
}
