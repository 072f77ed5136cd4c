import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  InstancedMesh,
  Line,
  Matrix4,
  Mesh,
  type Object3D,
  type Plane,
  Points,
  type Ray,
  SkinnedMesh,
  Sphere,
  Triangle,
  Vector3,
} from 'three';
import { MeshBVH } from 'three-mesh-bvh';
import { SOLIDS } from './cap';
import type { Aim } from './projection';
import { snapTo, type Snap, type TrianglesNear } from './snap';

/** More triangles than these near to a place are seen as one. */
const MOST_NEAR = 4000;
/** Of the size of a model: corners that are nearer to each other are one. */
const PRECISION = 1e-6;

interface Hit {
  place: Vector3;
  distance: number;
  /** Whether it is seen from the inside of a solid. */
  isInside: boolean;
  near: TrianglesNear;
}

/** Finds the places of a model that a person points at. */
export class Picker {
  /** Triangles by place, of the geometries that were pointed at; they end with the picker. */
  private readonly trees = new Map<BufferGeometry, MeshBVH>();
  private readonly precision: number;

  constructor(
    private readonly root: Object3D,
    size: number,
  ) {
    this.precision = size * PRECISION;
  }

  /** The place that is meant, of the visible parts on the visible side of a plane. */
  pick(aim: Aim, plane: Plane | null): Snap | null {
    this.root.updateMatrixWorld();
    for (const ray of [aim.ray, ...aim.around]) {
      const hit = this.hitSurface(ray, plane);
      if (!hit) continue;
      const cut = plane && hit.isInside ? ray.intersectPlane(plane, new Vector3()) : null;
      // The plane closes a solid that it cuts.
      if (cut && ray === aim.ray && cut.distanceTo(ray.origin) < hit.distance)
        return { kind: 'surface', place: cut };
      const radius = hit.distance * aim.slope;
      const snap = snapTo(aim.ray, hit.place, radius, this.precision, hit.near);
      const isCut = plane && plane.distanceToPoint(snap.place) < 0;
      return isCut ? { kind: 'surface', place: hit.place } : snap;
    }
    return this.nearestPoint(aim, plane);
  }

  private hitSurface(ray: Ray, plane: Plane | null): Hit | null {
    let nearest: Hit | null = null;
    for (const node of this.visibleNodes()) {
      if (!(node instanceof Mesh)) continue;
      const mesh = node as Mesh;
      for (const matrix of placements(mesh)) {
        const hit = this.hitMesh(mesh, matrix, ray, plane);
        if (hit && hit.distance < (nearest?.distance ?? Infinity)) nearest = hit;
      }
    }
    return nearest;
  }

  private visibleNodes(): Object3D[] {
    const nodes: Object3D[] = [];
    this.root.traverseVisible((node) => nodes.push(node));
    return nodes;
  }

  private hitMesh(mesh: Mesh, matrix: Matrix4, ray: Ray, plane: Plane | null): Hit | null {
    const { geometry } = mesh;
    if (!geometry.attributes.position) return null;
    if (!geometry.boundingSphere) geometry.computeBoundingSphere();
    const isMoved = mesh instanceof SkinnedMesh || !!mesh.morphTargetInfluences?.length;
    const sphere = geometry.boundingSphere?.clone().applyMatrix4(matrix);
    if (!isMoved && sphere && !ray.intersectsSphere(sphere)) return null;
    let tree = this.trees.get(geometry);
    if (!tree) {
      // The order of the triangles remains that of the file, which is on the graphics card already.
      tree = new MeshBVH(isMoved ? geometryNow(mesh) : geometry, { indirect: true });
      this.trees.set(geometry, tree);
    }
    const local = ray.clone().applyMatrix4(matrix.clone().invert());
    // Without a plane the first hit is enough.
    const hits = plane ? tree.raycast(local, DoubleSide) : [tree.raycastFirst(local, DoubleSide)];
    let nearest: Hit | null = null;
    for (const hit of hits) {
      if (!hit) continue;
      const place = hit.point.clone().applyMatrix4(matrix);
      const distance = place.distanceTo(ray.origin);
      if (plane && plane.distanceToPoint(place) < 0) continue;
      if (nearest && nearest.distance <= distance) continue;
      const isBack = (hit.face?.normal.dot(local.direction) ?? 0) > 0;
      const isInside = isBack && mesh.layers.isEnabled(SOLIDS);
      nearest = { place, distance, isInside, near: trianglesOf(tree, matrix) };
    }
    return nearest;
  }

  /** The nearest point of a cloud, or end of a line; a point is seen between others behind it. */
  private nearestPoint({ ray, slope }: Aim, plane: Plane | null): Snap | null {
    let [nearest, least]: [Vector3 | null, number] = [null, Infinity];
    const place = new Vector3();
    for (const node of this.visibleNodes()) {
      if (!(node instanceof Points || node instanceof Line)) continue;
      const { geometry, matrixWorld } = node as Points;
      const { position } = geometry.attributes;
      for (let at = 0; position && at < position.count; at++) {
        place.fromBufferAttribute(position, at).applyMatrix4(matrixWorld);
        const distance = place.distanceTo(ray.origin);
        const beside = ray.distanceToPoint(place) / (distance * slope);
        const rank = distance * (1 + beside);
        if (beside > 1 || rank >= least || (plane && plane.distanceToPoint(place) < 0)) continue;
        [nearest, least] = [place.clone(), rank];
      }
    }
    return nearest && { kind: 'point', place: nearest };
  }

  dispose(): void {
    this.trees.clear();
  }
}

/** Where a mesh is drawn: once, or as often as it has instances. */
function placements(mesh: Mesh): Matrix4[] {
  if (!(mesh instanceof InstancedMesh)) return [mesh.matrixWorld];
  return Array.from({ length: mesh.count }, (_, at) => {
    const matrix = new Matrix4();
    mesh.getMatrixAt(at, matrix);
    return matrix.premultiply(mesh.matrixWorld);
  });
}

/** The geometry of a mesh that bones or targets move, as it is drawn now. */
function geometryNow(mesh: Mesh): BufferGeometry {
  const count = mesh.geometry.attributes.position?.count ?? 0;
  const positions = new Float32Array(count * 3);
  const place = new Vector3();
  for (let at = 0; at < count; at++) mesh.getVertexPosition(at, place).toArray(positions, at * 3);
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(positions, 3));
  return geometry.setIndex(mesh.geometry.index);
}

const trianglesOf =
  (tree: MeshBVH, matrix: Matrix4): TrianglesNear =>
  (place, radius) => {
    const inverse = matrix.clone().invert();
    const ball = new Sphere(place.clone().applyMatrix4(inverse));
    ball.radius = radius * inverse.getMaxScaleOnAxis();
    const triangles: Triangle[] = [];
    const closest = new Vector3();
    tree.shapecast({
      intersectsBounds: (box) => ball.intersectsBox(box),
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- of other trees than this one
      intersectsTriangle: (triangle) => {
        triangle.closestPointToPoint(ball.center, closest);
        if (!ball.containsPoint(closest)) return false;
        const corners = [triangle.a, triangle.b, triangle.c];
        const [a, b, c] = corners.map((corner) => corner.clone().applyMatrix4(matrix));
        triangles.push(new Triangle(a, b, c));
        return triangles.length >= MOST_NEAR;
      },
    });
    return triangles;
  };
