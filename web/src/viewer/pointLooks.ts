import {
  BufferAttribute,
  Color,
  type InterleavedBufferAttribute,
  type Points,
  PointsMaterial,
  Vector3,
} from 'three';

/** By what points are coloured: by their file, or by a number that each of them has. */
export const LOOKS = ['file', 'height', 'intensity', 'class'] as const;
export type Look = (typeof LOOKS)[number];

/** From low to high. Each has a contrast of at least 3 to the stage, in both themes. */
const RAMP = ['#4a68d8', '#108a8f', '#5f9420', '#e0662f'].map((color) => new Color(color));
/** Classes of LAS 1.4: ground, plants, buildings, water, roads. */
const CLASSES: Record<number, string> = {
  2: '#a9744f',
  3: '#7f9f2a',
  4: '#5f9420',
  5: '#2f8a3a',
  6: '#d8572a',
  9: '#1e78c8',
  11: '#737c8a',
};
/** Turned by it, hues of neighbours differ most. */
const GOLDEN_ANGLE = 137.508 / 360;
/** As GLTFLoader names the attributes `_INTENSITY` and `_CLASSIFICATION`. */
const ATTRIBUTES: Partial<Record<Look, string>> = {
  intensity: '_intensity',
  class: '_classification',
};
const SAMPLE = 10_000;
/** Of the lowest and of the highest points; a bird or an echo would take most of the ramp. */
const OUTLIERS = 0.02;
const HSL = { h: 0, s: 0, l: 0 };

type Range = [number, number];

/** How a cloud was coloured by its file. */
interface Own {
  colors: BufferAttribute | InterleavedBufferAttribute | undefined;
  color: Color;
  isPlain: boolean;
}

/** Colours and sizes of the points of a model, also of those that are loaded later. */
export class PointLooks {
  look: Look = 'file';
  private readonly own = new Map<Points, Own>();
  private readonly ranges = new Map<Look, Range>();

  /** Without `heights`, the values between which colours change are of the clouds that are shown first. */
  constructor(
    public size: number,
    heights?: Range,
  ) {
    if (heights) this.ranges.set('height', heights);
  }

  get isEmpty(): boolean {
    return this.own.size === 0;
  }

  /** What someone may choose. */
  get choices(): Look[] {
    const clouds = [...this.own.keys()];
    return LOOKS.filter((look) => clouds.some((cloud) => this.has(cloud, look)));
  }

  add(clouds: readonly Points[]): void {
    for (const cloud of clouds) {
      const { geometry, material } = cloud;
      const own = {
        colors: geometry.attributes.color,
        color: new Color().copy(materialOf(cloud)?.color ?? new Color()),
        isPlain: isPlain({ geometry, material }),
      };
      this.own.set(cloud, own);
    }
    this.paint(clouds);
  }

  remove(cloud: Points): void {
    this.own.delete(cloud);
  }

  show(look: Look, size: number): void {
    const clouds = [...this.own.keys()];
    this.size = size;
    if (look === this.look) clouds.forEach((cloud) => this.resize(cloud));
    else {
      this.look = look;
      this.paint(clouds);
    }
  }

  private has(cloud: Points, look: Look): boolean {
    if (look === 'height') return true;
    const name = ATTRIBUTES[look];
    return name ? name in cloud.geometry.attributes : this.own.get(cloud)?.isPlain === false;
  }

  private resize(cloud: Points): void {
    const material = materialOf(cloud);
    if (material) material.size = this.size;
  }

  /** Clouds without what is chosen are coloured by their height. */
  private paint(clouds: readonly Points[]): void {
    const groups = new Map<Look, Points[]>();
    for (const cloud of clouds) {
      this.resize(cloud);
      const look = this.has(cloud, this.look) ? this.look : 'height';
      groups.set(look, [...(groups.get(look) ?? []), cloud]);
    }
    groups.forEach((group, look) => {
      if (look === 'file') group.forEach((cloud) => this.restore(cloud));
      else this.colorBy(look, group);
    });
  }

  private colorBy(look: Look, clouds: readonly Points[]): void {
    const columns = clouds.map((cloud) => valuesOf(cloud, look));
    const range = this.ranges.get(look) ?? rangeOf(columns);
    this.ranges.set(look, range);
    const color = new Color();
    clouds.forEach((cloud, at) => {
      const values = columns[at] ?? new Float64Array();
      const colors = new Uint8Array(values.length * 3);
      values.forEach((value, point) => {
        if (look === 'class') colorOfClass(value, color);
        else colorOfRamp(value, range, color);
        colors.set([color.r * 255, color.g * 255, color.b * 255], point * 3);
      });
      cloud.geometry.setAttribute('color', new BufferAttribute(colors, 3, true));
      paintByVertex(cloud, true, new Color(0xffffff));
    });
  }

  private restore(cloud: Points): void {
    const own = this.own.get(cloud);
    if (!own) return;
    if (own.colors) cloud.geometry.setAttribute('color', own.colors);
    else cloud.geometry.deleteAttribute('color');
    paintByVertex(cloud, own.colors !== undefined, own.color);
  }
}

const materialOf = ({ material }: Points): PointsMaterial | null =>
  material instanceof PointsMaterial ? material : null;

/** Whether nothing gives points colours: no vertex, no texture, and the material is grey. */
function isPlain({ geometry, material }: Pick<Points, 'geometry' | 'material'>): boolean {
  if (!(material instanceof PointsMaterial)) return false;
  return !geometry.attributes.color && !material.map && material.color.getHSL(HSL).s < 0.05;
}

function paintByVertex(cloud: Points, vertexColors: boolean, color: Color): void {
  const material = materialOf(cloud);
  if (!material) return;
  // Of clouds that are loaded later, mostly nothing changes.
  material.needsUpdate ||= material.vertexColors !== vertexColors;
  material.vertexColors = vertexColors;
  material.color.copy(color);
}

function colorOfRamp(value: number, [low, high]: Range, color: Color): void {
  const fraction = high > low ? (value - low) / (high - low) : 0.5;
  const step = Math.min(Math.max(fraction, 0), 1) * (RAMP.length - 1);
  const first = Math.min(Math.floor(step), RAMP.length - 2);
  color.lerpColors(RAMP[first] ?? color, RAMP[first + 1] ?? color, step - first);
}

function colorOfClass(value: number, color: Color): void {
  const known = CLASSES[value];
  if (known) color.set(known);
  else color.setHSL((value * GOLDEN_ANGLE) % 1, 0.55, 0.45);
}

/** The up axis of a scene is y: that of glTF, and of every converted model. */
function valuesOf(cloud: Points, look: Look): Float64Array {
  const { attributes } = cloud.geometry;
  const column = attributes[ATTRIBUTES[look] ?? 'position'];
  const values = new Float64Array(attributes.position?.count ?? 0);
  if (!column) return values;
  const point = new Vector3();
  for (let at = 0; at < values.length; at++) {
    values[at] =
      look === 'height'
        ? point.fromBufferAttribute(column, at).applyMatrix4(cloud.matrixWorld).y
        : column.getX(at);
  }
  return values;
}

/** The values between which colours change. */
function rangeOf(columns: readonly Float64Array[]): Range {
  const count = columns.reduce((sum, column) => sum + column.length, 0);
  const every = Math.ceil(count / SAMPLE);
  const sample = columns
    .flatMap((column) => [...column.filter((_, at) => at % every === 0)])
    .sort((a, b) => a - b);
  const at = (fraction: number) => sample[Math.floor(fraction * (sample.length - 1))] ?? 0;
  const [low, high] = [at(OUTLIERS), at(1 - OUTLIERS)];
  // Almost all of it is flat.
  return high > low ? [low, high] : [at(0), at(1)];
}
