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

/** The materials of a model, each once; of meshes that have others for a while, their own. */
export function materialsOf(
  root: Object3D,
  originals?: ReadonlyMap<Mesh, Material | Material[]>,
): Set<Material> {
  const materials = new Set<Material>();
  root.traverse((node) => {
    if (!(node instanceof Mesh || node instanceof Points)) return;
    const mesh = node as Mesh;
    for (const material of [originals?.get(mesh) ?? mesh.material].flat()) materials.add(material);
  });
  return materials;
}

/** The materials of a model, in the order of its nodes. */
export function listMaterials(root: Object3D): MaterialRow[] {
  return [...materialsOf(root)].map((material) => ({
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

/** Frees the memory of a material and of its pictures. */
export function disposeMaterial(material: Material): void {
  for (const value of Object.values(material) as unknown[]) {
    if (value instanceof Texture) value.dispose();
  }
  material.dispose();
}
