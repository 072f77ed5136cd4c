import {
  type Box3,
  DataTexture,
  DoubleSide,
  Mesh,
  MeshBasicMaterial,
  MeshDepthMaterial,
  OrthographicCamera,
  PlaneGeometry,
  type Scene,
  Vector3,
  WebGLRenderTarget,
  type WebGLRenderer,
} from 'three';

/** The pixels of the shadow along each side. */
const SIDE = 128;
/** Of the pixels around one, on each side of it, which blur makes one of; done three times. */
const REACH = 4;
const DARKEST = 0.45;
/** The ground is larger than the model, for the edge of the shadow. */
const MARGIN = 1.3;

/** The ground that a model stands on: only its soft shadow, dark where they are near. */
export class Ground {
  private readonly texture = new DataTexture(new Uint8Array(4 * SIDE * SIDE), SIDE, SIDE);
  private readonly mesh: Mesh<PlaneGeometry, MeshBasicMaterial>;
  private readonly below: OrthographicCamera;
  private isRenewed = false;

  constructor(
    private readonly scene: Scene,
    box: Box3,
  ) {
    const [size, middle] = [box.getSize(new Vector3()), box.getCenter(new Vector3())];
    // A model without extent along an axis has a shadow, too.
    const least = size.length() / 20 || 1;
    const [wide, deep] = [size.x, size.z].map((extent) => Math.max(extent, least) * MARGIN) as [
      number,
      number,
    ];
    const high = Math.max(size.y, least);
    const material = new MeshBasicMaterial({
      color: 0,
      map: this.texture,
      transparent: true,
      depthWrite: false,
    });
    this.mesh = new Mesh(new PlaneGeometry(wide, deep).rotateX(-Math.PI / 2), material);
    // Below the model, whose lowest faces would flicker with it.
    this.mesh.position.set(middle.x, box.min.y - size.length() / 1000, middle.z);
    this.below = new OrthographicCamera(-wide / 2, wide / 2, deep / 2, -deep / 2, 0, high * 1.01);
    this.below.position.copy(this.mesh.position);
    // Seen from below, and drawn as the ground has it from above.
    this.below.up.set(0, 0, -1);
    this.below.lookAt(middle.x, box.max.y + high, middle.z);
    this.below.updateMatrixWorld();
    scene.add(this.mesh);
  }

  /** Other parts of the model have shadows, from the next drawing on. */
  renew(): void {
    this.isRenewed = false;
  }

  show(renderer: WebGLRenderer, isShown: boolean): void {
    if (!this.isRenewed) this.draw(renderer);
    this.isRenewed = true;
    this.mesh.visible = isShown;
  }

  dispose(): void {
    this.scene.remove(this.mesh);
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
    this.texture.dispose();
  }

  private draw(renderer: WebGLRenderer): void {
    const target = new WebGLRenderTarget(SIDE, SIDE);
    const material = new MeshDepthMaterial({ side: DoubleSide });
    const pixels = new Uint8Array(4 * SIDE * SIDE);
    this.mesh.visible = false;
    this.scene.overrideMaterial = material;
    renderer.clippingPlanes = [];
    renderer.setRenderTarget(target);
    renderer.clear();
    renderer.render(this.scene, this.below);
    renderer.readRenderTargetPixels(target, 0, 0, SIDE, SIDE, pixels);
    renderer.setRenderTarget(null);
    this.scene.overrideMaterial = null;
    target.dispose();
    material.dispose();
    // The nearer to the ground, the brighter: what is empty is black.
    let nearness = Float32Array.from({ length: SIDE * SIDE }, (_, at) => pixels[4 * at] ?? 0);
    for (let times = 0; times < 3; times++) nearness = soften(nearness, SIDE, REACH);
    const data = this.texture.image.data as Uint8Array;
    for (let row = 0; row < SIDE; row++)
      for (let column = 0; column < SIDE; column++) {
        // The camera below has left where the ground has right.
        const from = row * SIDE + (SIDE - 1 - column);
        data[4 * (row * SIDE + column) + 3] = DARKEST * (nearness[from] ?? 0);
      }
    this.texture.needsUpdate = true;
  }
}

/** Returns the pixels of a square, each as the mean of the square around it. */
export function soften(
  pixels: Float32Array<ArrayBuffer>,
  side: number,
  reach: number,
): Float32Array<ArrayBuffer> {
  const along = (from: Float32Array<ArrayBuffer>, step: number, next: number) => {
    const to = new Float32Array(from.length);
    for (let line = 0; line < side; line++) {
      let sum = 0;
      for (let at = -reach; at < side; at++) {
        if (at + reach < side) sum += from[line * next + (at + reach) * step] ?? 0;
        if (at - reach > 0) sum -= from[line * next + (at - reach - 1) * step] ?? 0;
        if (at >= 0) to[line * next + at * step] = sum / (2 * reach + 1);
      }
    }
    return to;
  };
  return along(along(pixels, 1, side), side, 1);
}
