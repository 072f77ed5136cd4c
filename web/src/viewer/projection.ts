import { type PerspectiveCamera, Ray, Vector3 } from 'three';

/** A place on a canvas, from its left and its top. */
export interface Pixel {
  x: number;
  y: number;
}

/** A canvas, or what it fills. */
export interface Canvas {
  clientWidth: number;
  clientHeight: number;
}

/** What a person points at: something small is missed by a few pixels, mostly at its edge. */
export interface Aim {
  ray: Ray;
  /** The rays around it, at the distance that still hits. */
  around: Ray[];
  /** How far beside the ray a place may be, per distance from the camera. */
  slope: number;
}

/** In pixels. */
const NEAR = 9;
const AROUND = 8;

/** Where a place in the scene is on the canvas; null if it is behind the camera. */
export function project(place: Vector3, camera: PerspectiveCamera, canvas: Canvas): Pixel | null {
  camera.updateMatrixWorld();
  const { x, y, z } = place.clone().project(camera);
  if (z > 1 || Number.isNaN(x)) return null;
  return { x: ((x + 1) / 2) * canvas.clientWidth, y: ((1 - y) / 2) * canvas.clientHeight };
}

/** How wide a pixel is, per distance from the camera. */
export const pixelSlope = (camera: PerspectiveCamera, canvas: Canvas): number =>
  (2 * Math.tan((camera.fov * Math.PI) / 360)) / (canvas.clientHeight || 1);

export function aimAt({ x, y }: Pixel, camera: PerspectiveCamera, canvas: Canvas): Aim {
  camera.updateMatrixWorld();
  const rayThrough = (right: number, down: number): Ray => {
    const through = new Vector3(
      ((x + right) / (canvas.clientWidth || 1)) * 2 - 1,
      1 - ((y + down) / (canvas.clientHeight || 1)) * 2,
      0.5,
    ).unproject(camera);
    return new Ray(camera.position.clone(), through.sub(camera.position).normalize());
  };
  const around = Array.from({ length: AROUND }, (_, at) => {
    const angle = (at / AROUND) * 2 * Math.PI;
    return rayThrough(Math.cos(angle) * NEAR, Math.sin(angle) * NEAR);
  });
  return { ray: rayThrough(0, 0), around, slope: pixelSlope(camera, canvas) * NEAR };
}
