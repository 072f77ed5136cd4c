import { Mesh, type Object3D, Points } from 'three';
import { viewerTexts } from '../texts/viewer';

/** A node of a model that someone may hide. */
export interface Part {
  node: Object3D;
  name: string;
  /** How many parts it is in. */
  depth: number;
}

const isDrawn = (node: Object3D): boolean => node instanceof Mesh || node instanceof Points;

const hasDrawn = (node: Object3D): boolean => isDrawn(node) || node.children.some(hasDrawn);

/** The loader replaces signs of names, and keeps the names of the file beside them. */
export function nameOf(node: Object3D): string {
  const { name }: { name?: unknown } = node.userData;
  return typeof name === 'string' && name ? name : node.name;
}

/** The element of a building that a node of its GLB shows, if it is one. */
export const elementId = (node: Object3D): number | null => {
  const { ifcId }: { ifcId?: unknown } = node.userData;
  return typeof ifcId === 'number' ? ifcId : null;
};

/** The parts of a model in the order of its nodes: those with a name, and others that are drawn. */
export function listParts(root: Object3D): Part[] {
  const parts: Part[] = [];
  const visit = (node: Object3D, depth: number): void => {
    if (!hasDrawn(node)) return;
    const name = nameOf(node);
    const isPart = node !== root && (name !== '' || isDrawn(node));
    if (isPart) parts.push({ node, depth, name: name || viewerTexts.unnamed(parts.length + 1) });
    for (const child of node.children) {
      // The loader splits an element of a building by its materials.
      if (elementId(node) === null || elementId(child) !== null)
        visit(child, isPart ? depth + 1 : depth);
    }
  };
  visit(root, 0);
  return parts;
}

/** Shows only one part with all that is in it. */
export function isolatePart(root: Object3D, part: Object3D): void {
  root.traverse((node) => (node.visible = false));
  part.traverse((node) => (node.visible = true));
  part.traverseAncestors((node) => (node.visible = true));
}

export const showAllParts = (root: Object3D): void =>
  root.traverse((node) => (node.visible = true));
