import { Color, Line, LineBasicMaterial, Mesh, Points, type Object3D } from 'three';
import { PointLooks } from './pointLooks';

const LINE = new Color('#737c8a');
const HSL = { h: 0, s: 0, l: 0 };

/** Whether a model has surfaces: points and lines have neither edges nor normals to show. */
export function hasSurfaces(model: Object3D): boolean {
  let isMeshed = false;
  model.traverse((node) => (isMeshed ||= node instanceof Mesh));
  return isMeshed;
}

/**
 * Prepares what is drawn without light, so that only its colours show its shape: points get a size
 * that is seen, and those without colours of their own get colours by their height.
 */
export function prepareUnlit(model: Object3D): PointLooks {
  model.updateMatrixWorld(true);
  const clouds: Points[] = [];
  model.traverse((node) => {
    if (node instanceof Points) clouds.push(node as Points);
    else if (node instanceof Line && isPlain(node as Line)) paintLine(node as Line);
  });
  const count = clouds.reduce((sum, { geometry }) => sum + pointCount(geometry), 0);
  const looks = new PointLooks(pointSize(count));
  looks.add(clouds);
  return looks;
}

/** Points of one pixel are hardly seen: the fewer there are, the larger they are drawn. */
export const pointSize = (count: number): number =>
  Math.min(5, Math.max(1.5, 600 / Math.sqrt(count)));

const pointCount = ({ attributes }: Points['geometry']): number => attributes.position?.count ?? 0;

function paintLine({ material }: Line): void {
  if (material instanceof LineBasicMaterial) material.color.copy(LINE);
}

/** Whether nothing gives a line colours: no vertex, no texture, and its material is white or grey. */
function isPlain({ geometry, material }: Line): boolean {
  if (!(material instanceof LineBasicMaterial)) return false;
  return !geometry.attributes.color && !material.map && material.color.getHSL(HSL).s < 0.05;
}
