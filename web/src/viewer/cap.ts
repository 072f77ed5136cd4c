import {
  AlwaysStencilFunc,
  BackSide,
  type Box3,
  DecrementWrapStencilOp,
  DoubleSide,
  FrontSide,
  IncrementWrapStencilOp,
  Mesh,
  MeshBasicMaterial,
  NotEqualStencilFunc,
  type Object3D,
  type PerspectiveCamera,
  type Plane,
  PlaneGeometry,
  Scene,
  type Side,
  type StencilOp,
  Triangle,
  Vector3,
  type WebGLRenderer,
} from 'three';

/** The layer of meshes that enclose a volume. */
export const SOLIDS = 1;
const COLOR = 0xd9822b;
/** Of the area of a mesh: how much of it may be without another side. */
const OPEN = 1e-3;

/**
 * Closes what a plane cuts open: where more back faces than front faces are drawn, the inside of a
 * solid is seen, and the plane is drawn there.
 */
export class Cap {
  private readonly scene = new Scene();
  private readonly middle: Vector3;
  private readonly sheet: Mesh<PlaneGeometry, MeshBasicMaterial>;
  private readonly backs = countFaces(BackSide, IncrementWrapStencilOp);
  private readonly fronts = countFaces(FrontSide, DecrementWrapStencilOp);

  constructor(model: Object3D, box: Box3) {
    const side = 2 * box.getSize(new Vector3()).length();
    this.sheet = new Mesh(
      new PlaneGeometry(side, side),
      new MeshBasicMaterial({
        color: COLOR,
        side: DoubleSide,
        stencilWrite: true,
        stencilRef: 0,
        stencilFunc: NotEqualStencilFunc,
      }),
    );
    this.middle = box.getCenter(new Vector3());
    this.scene.add(this.sheet);
    for (const mesh of solidsOf(model)) mesh.layers.enable(SOLIDS);
  }

  /** Draws a scene that a plane cuts. */
  render(renderer: WebGLRenderer, scene: Scene, camera: PerspectiveCamera, plane: Plane): void {
    renderer.clear();
    renderer.autoClear = false;
    renderer.clippingPlanes = [plane];
    camera.layers.set(SOLIDS);
    for (const material of [this.backs, this.fronts]) {
      scene.overrideMaterial = material;
      renderer.render(scene, camera);
    }
    scene.overrideMaterial = null;
    camera.layers.set(0);
    renderer.clippingPlanes = [];
    plane.projectPoint(this.middle, this.sheet.position);
    this.sheet.lookAt(this.sheet.position.clone().add(plane.normal));
    renderer.render(this.scene, camera);
    renderer.clippingPlanes = [plane];
    renderer.render(scene, camera);
    renderer.autoClear = true;
  }

  dispose(): void {
    this.sheet.geometry.dispose();
    for (const material of [this.sheet.material, this.backs, this.fronts]) material.dispose();
  }
}

function countFaces(side: Side, operation: StencilOp): MeshBasicMaterial {
  return new MeshBasicMaterial({
    side,
    colorWrite: false,
    depthWrite: false,
    depthTest: false,
    stencilWrite: true,
    stencilFunc: AlwaysStencilFunc,
    stencilFail: operation,
    stencilZFail: operation,
    stencilZPass: operation,
  });
}

/**
 * The meshes that enclose a volume: the cap of others would have no edge. In a closed surface all
 * that faces one way has as much that faces the other way; surfaces of several materials are
 * siblings, which are closed only together.
 */
export function solidsOf(model: Object3D): Mesh[] {
  const solids: Mesh[] = [];
  const open = new Map<Object3D | null, Surface[]>();
  model.updateMatrixWorld(true);
  model.traverse((node) => {
    if (!(node instanceof Mesh)) return;
    const surface = measureSurface(node as Mesh);
    if (isClosed([surface])) solids.push(surface.mesh);
    else open.set(node.parent, [...(open.get(node.parent) ?? []), surface]);
  });
  for (const surfaces of open.values()) {
    if (isClosed(surfaces)) solids.push(...surfaces.map(({ mesh }) => mesh));
  }
  return solids;
}

interface Surface {
  mesh: Mesh;
  area: number;
  /** The sum of the directions to which its triangles face, as long as their areas. */
  facing: Vector3;
}

function isClosed(surfaces: readonly Surface[]): boolean {
  const facing = new Vector3();
  let area = 0;
  for (const surface of surfaces) {
    facing.add(surface.facing);
    area += surface.area;
  }
  return area > 0 && facing.length() < OPEN * area;
}

function measureSurface(mesh: Mesh): Surface {
  const { index, attributes } = mesh.geometry;
  const { position } = attributes;
  const facing = new Vector3();
  let area = 0;
  const triangle = new Triangle();
  const [side, other] = [new Vector3(), new Vector3()];
  const count = index?.count ?? position?.count ?? 0;
  const corner = (target: Vector3, at: number) =>
    position && target.fromBufferAttribute(position, index ? index.getX(at) : at);
  for (let at = 0; at + 2 < count; at += 3) {
    corner(triangle.a, at);
    corner(triangle.b, at + 1);
    corner(triangle.c, at + 2);
    side.subVectors(triangle.b, triangle.a);
    side.cross(other.subVectors(triangle.c, triangle.a)).multiplyScalar(0.5);
    area += side.length();
    facing.add(side);
  }
  return { mesh, area, facing };
}
