import { Box3, Mesh, type Object3D } from 'three';
import { nameOf } from './parts';

/** What two models have different: meshes of the first, of the second, and of both. */
export interface Differences {
  removed: Mesh[];
  added: Mesh[];
  /** Meshes of one name that have another shape or place, of both models. */
  changed: Mesh[];
}

/** Of the size of a model: what is less apart is in the same place. */
const PRECISION = 1e-4;

/** Compares the meshes of two models by the names of their nodes, and without them by shape. */
export function differencesOf(before: Object3D, after: Object3D): Differences {
  const size = Math.max(sizeOf(before), sizeOf(after)) * PRECISION || 1;
  const [left, right] = [meshesOf(before, size), meshesOf(after, size)];
  const changed: Mesh[] = [];
  const byName = new Map(right.flatMap((item) => (item.name ? [[item.name, item] as const] : [])));
  const remaining = new Set(right);
  const unmatched = left.filter((item) => {
    const other = item.name ? byName.get(item.name) : undefined;
    if (!other) return true;
    remaining.delete(other);
    if (other.shape !== item.shape) changed.push(item.mesh, other.mesh);
    return false;
  });
  const byShape = new Map<string, Item[]>();
  for (const item of remaining) byShape.set(item.shape, [...(byShape.get(item.shape) ?? []), item]);
  const removed = unmatched.filter(({ shape }) => {
    const other = byShape.get(shape)?.pop();
    if (other) remaining.delete(other);
    return !other;
  });
  return {
    removed: removed.map(({ mesh }) => mesh),
    added: [...remaining].map(({ mesh }) => mesh),
    changed,
  };
}

interface Item {
  mesh: Mesh;
  /** The names of the nodes that it is in; equal ones are numbered. */
  name: string;
  shape: string;
}

function meshesOf(root: Object3D, precision: number): Item[] {
  const items: Item[] = [];
  const counts = new Map<string, number>();
  root.updateMatrixWorld(true);
  const visit = (node: Object3D, path: string): void => {
    const own = node === root ? '' : nameOf(node);
    const name = own ? `${path}/${own}` : path;
    if (node instanceof Mesh) {
      const mesh = node as Mesh;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      items.push({ mesh, name: name && `${name} ${count}`, shape: shapeOf(mesh, precision) });
    }
    for (const child of node.children) visit(child, name);
  };
  visit(root, '');
  return items;
}

function shapeOf(mesh: Mesh, precision: number): string {
  const { geometry } = mesh;
  if (!geometry.boundingBox) geometry.computeBoundingBox();
  const box = (geometry.boundingBox ?? new Box3()).clone().applyMatrix4(mesh.matrixWorld);
  const places = [...box.min.toArray(), ...box.max.toArray()];
  const counts = [geometry.attributes.position?.count ?? 0, geometry.index?.count ?? 0];
  return [...counts, ...places.map((place) => Math.round(place / precision))].join();
}

const sizeOf = (root: Object3D): number => {
  const box = new Box3().setFromObject(root);
  return box.isEmpty() ? 0 : box.min.distanceTo(box.max);
};
