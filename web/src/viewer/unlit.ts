import {
  BufferAttribute,
  Color,
  Line,
  LineBasicMaterial,
  Mesh,
  Points,
  PointsMaterial,
  Vector3,
  type Object3D,
} from 'three';

/** From low to high. Each has a contrast of at least 3 to the stage, in both themes. */
const RAMP = ['#4a68d8', '#108a8f', '#5f9420', '#e0662f'].map((color) => new Color(color));
const LINE = new Color('#737c8a');
const SAMPLE = 10_000;
/** Of the lowest and of the highest points; a bird or an echo would take most of the ramp. */
const OUTLIERS = 0.02;
const HSL = { h: 0, s: 0, l: 0 };

/** Whether a model has surfaces: points and lines have neither edges nor normals to show. */
export function hasSurfaces(model: Object3D): boolean {
  let isMeshed = false;
  model.traverse((node) => (isMeshed ||= node instanceof Mesh));
  return isMeshed;
}

/**
 * Prepares what is drawn without light, so that only its colours show its shape: points get a size
 * that is seen, and those without colours of their own get colours by their height. Returns the
 * clouds that have colours of their own.
 */
export function prepareUnlit(model: Object3D): Points[] {
  model.updateMatrixWorld(true);
  const clouds = cloudsOf(model);
  model.traverse((node) => {
    if (!(node instanceof Line) || !isPlain(node as Line)) return;
    const { material } = node as Line;
    if (material instanceof LineBasicMaterial) material.color.copy(LINE);
  });
  enlarge(clouds);
  const plain = clouds.filter(isPlain);
  colorByHeight(plain);
  return clouds.filter((cloud) => !plain.includes(cloud));
}

/** The point clouds of a model. */
export function cloudsOf(model: Object3D): Points[] {
  const clouds: Points[] = [];
  model.traverse((node) => {
    if (node instanceof Points) clouds.push(node as Points);
  });
  return clouds;
}

/** Points of one pixel are hardly seen: the fewer there are, the larger they are drawn. */
function enlarge(clouds: readonly Points[]): void {
  const count = clouds.reduce((sum, cloud) => sum + pointCount(cloud), 0);
  const pixels = Math.min(5, Math.max(1.5, 600 / Math.sqrt(count)));
  for (const { material } of clouds) {
    if (material instanceof PointsMaterial) material.size = pixels;
  }
}

const pointCount = ({ geometry }: Points): number => geometry.attributes.position?.count ?? 0;

/** Whether nothing gives it colours: no vertex, no texture, and its material is white or grey. */
function isPlain({ geometry, material }: Points | Line): boolean {
  if (!(material instanceof PointsMaterial || material instanceof LineBasicMaterial)) return false;
  return !geometry.attributes.color && !material.map && material.color.getHSL(HSL).s < 0.05;
}

/** The up axis of a scene is y: that of glTF, and of every converted model. */
export function colorByHeight(clouds: readonly Points[]): void {
  const heights = clouds.map(pointHeights);
  const [low, high] = heightRange(heights);
  const color = new Color();
  clouds.forEach((cloud, at) => {
    const of = heights[at] ?? [];
    const colors = new Uint8Array(of.length * 3);
    of.forEach((height, point) => {
      const fraction = high > low ? (height - low) / (high - low) : 0.5;
      const step = Math.min(Math.max(fraction, 0), 1) * (RAMP.length - 1);
      const first = Math.min(Math.floor(step), RAMP.length - 2);
      color.lerpColors(RAMP[first] ?? color, RAMP[first + 1] ?? color, step - first);
      colors.set([color.r * 255, color.g * 255, color.b * 255], point * 3);
    });
    cloud.geometry.setAttribute('color', new BufferAttribute(colors, 3, true));
    if (cloud.material instanceof PointsMaterial) {
      cloud.material.color.set(0xffffff);
      cloud.material.vertexColors = true;
      cloud.material.needsUpdate = true;
    }
  });
}

function pointHeights(cloud: Points): Float64Array {
  const { position } = cloud.geometry.attributes;
  const heights = new Float64Array(pointCount(cloud));
  const point = new Vector3();
  if (!position) return heights;
  for (let at = 0; at < heights.length; at++) {
    heights[at] = point.fromBufferAttribute(position, at).applyMatrix4(cloud.matrixWorld).y;
  }
  return heights;
}

/** The heights between which colours change. */
function heightRange(heights: readonly Float64Array[]): [number, number] {
  const count = heights.reduce((sum, column) => sum + column.length, 0);
  const every = Math.ceil(count / SAMPLE);
  const sample = heights
    .flatMap((column) => [...column.filter((_, at) => at % every === 0)])
    .sort((a, b) => a - b);
  const at = (fraction: number) => sample[Math.floor(fraction * (sample.length - 1))] ?? 0;
  const [low, high] = [at(OUTLIERS), at(1 - OUTLIERS)];
  // Almost all of it is flat.
  return high > low ? [low, high] : [at(0), at(1)];
}
