import { Triangle, Vector3 } from 'three';

export interface Edge {
  from: Vector3;
  to: Vector3;
}

export interface Circle {
  centre: Vector3;
  diameter: number;
}

/** A circle of fewer points could be the outline of anything. */
const FEWEST = 6;
const MOST = 1000;
/** Cosines of the angles at a corner: rounder than a line, and no sharper than a hexagon's. */
const [STRAIGHT, SHARPEST] = [Math.cos(0.003), 0.45];
/** How much the radius may differ from one corner to the next, and of all corners at last. */
const [UNEVEN, ROUND] = [0.05, 0.01];

/** The circle, or the arc, that an edge is a part of; null if there is none. */
export function circleOf(edge: Edge, edgesAt: (corner: Vector3) => Edge[]): Circle | null {
  const corners = [edge.from, edge.to];
  const isClosed = follow(corners, edgesAt);
  if (!isClosed) follow(corners.reverse(), edgesAt);
  if (corners.length < FEWEST) return null;
  // Corners far from each other: those of neighbours lie almost on a line.
  const apart = isClosed ? corners.length / 3 : (corners.length - 1) / 2;
  const [first, second, third] = [0, apart, 2 * apart].map((at) => corners[Math.floor(at)]);
  const centre = first && second && third && centreOf(first, second, third);
  if (!centre) return null;
  const radius = centre.distanceTo(first);
  // A part of a large circle is near to anything that is almost straight.
  const local = radiusAt(corners[0], corners[1] ?? first, corners[2] ?? first);
  if (local === null || Math.abs(local / radius - 1) > UNEVEN) return null;
  const isRound = corners.every(
    (corner) => Math.abs(corner.distanceTo(centre) - radius) < ROUND * radius,
  );
  return isRound ? { centre, diameter: 2 * radius } : null;
}

/** Adds the corners that follow the last one on an arc; returns whether it leads to the first. */
function follow(corners: Vector3[], edgesAt: (corner: Vector3) => Edge[]): boolean {
  while (corners.length < MOST) {
    const [before, last] = [corners.at(-2), corners.at(-1)];
    if (!before || !last) return false;
    const next = nextCorner(corners, before, last, edgesAt(last));
    if (!next) return false;
    if (isSame(next, corners[0] ?? last)) return corners.length >= FEWEST;
    corners.push(next);
  }
  return false;
}

function nextCorner(
  corners: readonly Vector3[],
  before: Vector3,
  last: Vector3,
  edges: readonly Edge[],
): Vector3 | null {
  const radius = corners.length > 2 ? radiusAt(corners.at(-3), before, last) : null;
  let [next, least]: [Vector3 | null, number] = [null, Infinity];
  for (const { from, to } of edges) {
    const corner = isSame(from, last) ? to : from;
    if (isSame(corner, before)) continue;
    const straightness = cosineAt(before, last, corner);
    if (straightness > STRAIGHT || straightness < SHARPEST) continue;
    const after = radiusAt(before, last, corner);
    const difference =
      radius === null || after === null ? 1 - straightness : Math.abs(after / radius - 1);
    if (radius !== null && difference > UNEVEN) continue;
    if (difference < least) [next, least] = [corner, difference];
  }
  return next;
}

const isSame = (point: Vector3, other: Vector3): boolean =>
  point.distanceToSquared(other) < 1e-12 * (point.lengthSq() + other.lengthSq());

function cosineAt(before: Vector3, corner: Vector3, after: Vector3): number {
  const arriving = new Vector3().subVectors(corner, before).normalize();
  return arriving.dot(new Vector3().subVectors(after, corner).normalize());
}

const radiusAt = (before: Vector3 | undefined, corner: Vector3, after: Vector3): number | null =>
  (before && centreOf(before, corner, after)?.distanceTo(corner)) ?? null;

/** The centre of the circle through three points; null if they are on a line. */
function centreOf(first: Vector3, second: Vector3, third: Vector3): Vector3 | null {
  const [side, other] = [second.clone().sub(first), third.clone().sub(first)];
  const normal = side.clone().cross(other);
  const area = normal.lengthSq();
  if (area <= 1e-20 * side.lengthSq() * other.lengthSq()) return null;
  const centre = side
    .clone()
    .multiplyScalar(other.lengthSq())
    .sub(other.clone().multiplyScalar(side.lengthSq()))
    .cross(normal)
    .divideScalar(-2 * area);
  return centre.add(first);
}

/** Cosine of the angle from which on two surfaces meet at an edge. */
const FLAT = Math.cos(Math.PI / 9);

/** The edges at which surfaces meet at an angle, or end. */
export function sharpEdges(triangles: readonly Triangle[], precision: number): Edge[] {
  const keyOf = ({ x, y, z }: Vector3): string =>
    [x, y, z].map((value) => Math.round(value / precision)).join();
  const edges = new Map<string, Edge & { normals: Vector3[] }>();
  for (const triangle of triangles) {
    const normal = triangle.getNormal(new Vector3());
    if (!normal.lengthSq()) continue;
    const { a, b, c } = triangle;
    for (const [from, to] of [
      [a, b],
      [b, c],
      [c, a],
    ] as const) {
      const key = [keyOf(from), keyOf(to)].sort().join(' ');
      const edge = edges.get(key);
      if (edge) edge.normals.push(normal);
      else edges.set(key, { from, to, normals: [normal] });
    }
  }
  return [...edges.values()].filter(
    ({ normals: [first, ...others] }) =>
      !others.length || others.some((normal) => first && normal.dot(first) < FLAT),
  );
}
