import { Color, type Material, Mesh, type Object3D, Points, Texture } from 'three';

/** A material of a model, with the pictures that it is made of. */
export interface MaterialRow {
  material: Material;
  name: string;
  /** As `#rrggbb`. */
  color: string | null;
  textures: { name: string; width: number; height: number }[];
}

/** What the loader calls a material of a file that has none. */
const DEFAULT = /^$|^default$/i;

/** The materials of a model, in the order of its nodes, and each once. */
export function listMaterials(root: Object3D): MaterialRow[] {
  const materials = new Set<Material>();
  root.traverse((node) => {
    if (!(node instanceof Mesh || node instanceof Points)) return;
    for (const material of [(node as Mesh).material].flat()) materials.add(material);
  });
  return [...materials].map((material) => ({
    material,
    name: DEFAULT.test(material.name) ? '' : material.name,
    color: colorOf(material),
    textures: texturesOf(material),
  }));
}

function colorOf(material: Material): string | null {
  const { color }: { color?: unknown } = material as object;
  return color instanceof Color ? `#${color.getHexString()}` : null;
}

function texturesOf(material: Material): MaterialRow['textures'] {
  const textures = new Map<Texture, string>();
  for (const [name, value] of Object.entries(material) as [string, unknown][]) {
    // The surroundings are the viewer's own.
    if (!(value instanceof Texture) || name === 'envMap') continue;
    const texture = value as Texture;
    if (!textures.has(texture)) textures.set(texture, name);
  }
  return [...textures].map(([texture, name]) => {
    const { width = 0, height = 0 }: { width?: number; height?: number } =
      (texture.image as object | null) ?? {};
    return { name, width, height };
  });
}
