import { Points, PointsMaterial, type Object3D } from 'three';

/** Points of one pixel are hardly seen: the fewer there are, the larger they are drawn. */
export function enlargePoints(model: Object3D): void {
  const clouds: Points[] = [];
  model.traverse((each) => {
    if (each instanceof Points) clouds.push(each as Points);
  });
  const count = clouds.reduce(
    (sum, { geometry }) => sum + (geometry.attributes.position?.count ?? 0),
    0,
  );
  const pixels = Math.min(5, Math.max(1.5, 600 / Math.sqrt(count)));
  for (const { material } of clouds) {
    if (material instanceof PointsMaterial) material.size = pixels;
  }
}
