import { Box3, type Frustum, Vector3 } from 'three';

/** A node of the tree of a cloud: depth, and its place in a grid of 2^depth cubes a side. */
export type Key = string;

/** What is seen of a cloud. */
export interface Sight {
  frustum: Frustum;
  eye: Vector3;
  /** How wide a pixel is, per distance. */
  slope: number;
}

/** The tree of a cloud as far as it is known. */
export interface Tree {
  /** The cube of the first node. */
  cube: Box3;
  /** Between the points of the first node. */
  spacing: number;
  /** How many points a node has. */
  counts: ReadonlyMap<Key, number>;
  /** Nodes whose part of the tree is not loaded. */
  pages: ReadonlySet<Key>;
}

export interface Choice {
  /** The nodes to draw, those first that are seen largest. */
  nodes: Key[];
  /** The parts of the tree that are needed to choose more. */
  pages: Key[];
}

/** Of pixels: points that are nearer to each other add nothing. */
const FINEST = 1.5;

/** The axes of a tree are x, y and z of the file: those of the scene are x, z and −y. */
export function cubeOf(key: Key, cube: Box3): Box3 {
  const [depth = 0, x = 0, y = 0, z = 0] = key.split('-').map(Number);
  const side = (cube.max.x - cube.min.x) / 2 ** depth;
  const min = new Vector3(
    cube.min.x + x * side,
    cube.min.y + z * side,
    cube.max.z - (y + 1) * side,
  );
  return new Box3(min, min.clone().addScalar(side));
}

/** Chooses the nodes that show most, of as many points as `budget` at most. */
export function chooseNodes(tree: Tree, sight: Sight, budget: number): Choice {
  const choice: Choice = { nodes: [], pages: [] };
  const open: { key: Key; size: number }[] = [{ key: '0-0-0-0', size: Infinity }];
  let points = 0;
  for (;;) {
    const largest = open.reduce(
      (best, { size }, at) => (size > (open[best]?.size ?? 0) ? at : best),
      0,
    );
    const [next] = open.splice(largest, 1);
    if (!next) return choice;
    const { key } = next;
    if (tree.pages.has(key)) {
      choice.pages.push(key);
      continue;
    }
    const count = tree.counts.get(key);
    if (count === undefined) continue;
    if (points + count > budget) return choice;
    points += count;
    choice.nodes.push(key);
    for (const child of childrenOf(key)) {
      if (!tree.counts.has(child) && !tree.pages.has(child)) continue;
      const cube = cubeOf(child, tree.cube);
      if (!sight.frustum.intersectsBox(cube)) continue;
      const size = pixelsBetween(key, cube, tree.spacing, sight);
      if (size > FINEST) open.push({ key: child, size });
    }
  }
}

/** How far apart the points of a node are seen, where the cube of its child is. */
function pixelsBetween(key: Key, cube: Box3, spacing: number, { eye, slope }: Sight): number {
  const distance = Math.max(cube.distanceToPoint(eye), (cube.max.x - cube.min.x) / 1000);
  return spacing / 2 ** Number(key.split('-', 1)[0]) / (distance * slope);
}

function childrenOf(key: Key): Key[] {
  const [depth = 0, ...place] = key.split('-').map(Number);
  return Array.from({ length: 8 }, (_, at) =>
    [depth + 1, ...place.map((value, axis) => value * 2 + ((at >> axis) & 1))].join('-'),
  );
}
