import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Frustum,
  Group,
  Matrix4,
  Points,
  PointsMaterial,
  Vector3,
} from 'three';
import { errorText, StorageError } from '../api/errors';
import { toast } from '../ui/Toasts';
import type { CloudHead, CloudPoints, CopcReply, CopcRequest } from './copcMessages';
import { chooseNodes, type Key, type Tree } from './copcTree';
import { UnreadableError, type Loaded, type StreamStage } from './parseModel';
import { PointLooks } from './pointLooks';
import { pixelSlope } from './projection';
import { pointSize } from './unlit';

/** Of points that are drawn at once. */
const BUDGET = 1_500_000;
/** Of points that are kept, drawn or not. */
const KEPT = 2 * BUDGET;
const REQUESTS = 4;
const ROOT = '0-0-0-0';
const EXPIRED = 403;

/** Shows a cloud of COPC as it is: the points that the camera sees are loaded by their ranges. */
export async function loadCopc(
  address: () => Promise<string>,
  signal: AbortSignal,
): Promise<Loaded> {
  const source = new CopcSource(address);
  signal.addEventListener('abort', () => source.end());
  try {
    const { head } = await source.request('open', ROOT, await address());
    if (!head) throw new UnreadableError();
    const cloud = new CopcCloud(source, head);
    await cloud.loadPage(ROOT);
    await cloud.loadNode(ROOT);
    const { box, looks: points } = cloud;
    const stream = { box, points, start: (stage: StreamStage) => cloud.start(stage) };
    return { scene: cloud.group, animations: [], missing: [], stream };
  } catch (error) {
    source.end();
    throw error;
  }
}

/** The worker that reads a file; an address that has expired is replaced. */
class CopcSource {
  private readonly worker = new Worker(new URL('./copc.worker.ts', import.meta.url), {
    type: 'module',
  });
  private readonly waiting = new Map<number, (reply: CopcReply | null) => void>();
  private last = 0;

  constructor(private readonly address: () => Promise<string>) {
    this.worker.onmessage = ({ data }: MessageEvent<CopcReply>) => {
      this.waiting.get(data.id)?.(data);
      this.waiting.delete(data.id);
    };
    // Its script did not load, or it ran out of memory.
    this.worker.onerror = () => this.fail();
  }

  async request(kind: CopcRequest['kind'], key: Key, url?: string): Promise<CopcReply> {
    const reply = await this.send({ kind, key, url });
    if (reply?.status !== EXPIRED || url !== undefined) return answered(reply);
    return answered(await this.send({ kind, key, url: await this.address() }));
  }

  end(): void {
    this.worker.terminate();
    this.fail();
  }

  private send(request: Omit<CopcRequest, 'id'>): Promise<CopcReply | null> {
    const id = ++this.last;
    this.worker.postMessage({ id, ...request } satisfies CopcRequest);
    return new Promise((resolve) => this.waiting.set(id, resolve));
  }

  private fail(): void {
    this.waiting.forEach((resolve) => resolve(null));
    this.waiting.clear();
  }
}

function answered(reply: CopcReply | null): CopcReply {
  if (!reply || reply.status === null || reply.status === 200) throw new UnreadableError();
  if (reply.status !== undefined) throw new StorageError(reply.status);
  return reply;
}

class CopcCloud {
  readonly group = new Group();
  readonly looks: PointLooks;
  readonly box: Box3;
  private readonly counts = new Map<Key, number>();
  private readonly pages = new Set<Key>([ROOT]);
  private readonly tree: Tree;
  /** In the order in which they were last chosen. */
  private readonly nodes = new Map<Key, Points>();
  private readonly requested = new Set<string>();
  private readonly failed = new Set<string>();
  /** What points have beside their places: the first node is of the whole cloud. */
  private present: Present | undefined;
  private readonly material = new PointsMaterial({ sizeAttenuation: false });
  private readonly seen = new Matrix4();
  private loading = 0;
  private isStale = true;
  private ended = false;

  constructor(
    private readonly source: CopcSource,
    head: CloudHead,
  ) {
    const [x, y, z] = head.min.map((low, axis) => (low + (head.max[axis] ?? low)) / 2);
    const place = ([east, north, up]: readonly number[]) =>
      new Vector3((east ?? 0) - (x ?? 0), (up ?? 0) - (z ?? 0), (y ?? 0) - (north ?? 0));
    const boxOf = (low: readonly number[], high: readonly number[]) =>
      new Box3().setFromPoints([place(low), place(high)]);
    this.box = boxOf(head.min, head.max);
    const cube = boxOf(head.cube.slice(0, 3), head.cube.slice(3));
    this.tree = { cube, spacing: head.spacing, counts: this.counts, pages: this.pages };
    this.looks = new PointLooks(pointSize(Math.min(head.points, BUDGET)));
  }

  async loadPage(key: Key): Promise<void> {
    const { page } = await this.source.request('page', key);
    this.pages.delete(key);
    page?.nodes.forEach(([node, count]) => this.counts.set(node, count));
    page?.pages.forEach((child) => this.pages.add(child));
  }

  async loadNode(key: Key): Promise<void> {
    const { points } = await this.source.request('points', key);
    if (!points) return;
    this.present ??= {
      color: points.colors.some(Boolean),
      _intensity: points.intensities.some(Boolean),
      _classification: points.classes.some(Boolean),
    };
    const cloud = new Points(geometryOf(points, this.present), this.material);
    this.nodes.set(key, cloud);
    this.group.add(cloud);
    this.looks.add([cloud]);
  }

  start(stage: StreamStage): () => void {
    const leave = stage.onDraw(() => this.follow(stage));
    stage.draw();
    return () => {
      leave();
      this.ended = true;
      this.source.end();
      this.nodes.forEach(({ geometry }) => geometry.dispose());
      this.material.dispose();
    };
  }

  /** Chooses again after the camera has moved, or something was loaded. */
  private follow(stage: StreamStage): void {
    const { camera, renderer } = stage;
    const matrix = new Matrix4().multiplyMatrices(
      camera.projectionMatrix,
      camera.matrixWorldInverse,
    );
    if (!this.seen.equals(matrix)) this.retryFailed();
    else if (!this.isStale) return;
    this.isStale = false;
    this.seen.copy(matrix);
    const sight = {
      frustum: new Frustum().setFromProjectionMatrix(matrix),
      eye: camera.position,
      slope: pixelSlope(camera, renderer.domElement),
    };
    const { nodes, pages } = chooseNodes(this.tree, sight, BUDGET);
    if (this.show(nodes)) stage.draw();
    for (const key of pages) this.load(`page ${key}`, () => this.loadPage(key), stage);
    for (const key of nodes)
      if (!this.nodes.has(key)) this.load(key, () => this.loadNode(key), stage);
  }

  private retryFailed(): void {
    this.failed.forEach((name) => this.requested.delete(name));
    this.failed.clear();
  }

  /** Returns whether that changes what is drawn. */
  private show(chosen: readonly Key[]): boolean {
    const drawn = new Set(chosen);
    let isChanged = false;
    this.nodes.forEach((cloud, key) => {
      isChanged ||= cloud.visible !== drawn.has(key);
      cloud.visible = drawn.has(key);
    });
    for (const key of chosen) {
      const cloud = this.nodes.get(key);
      if (!cloud) continue;
      this.nodes.delete(key);
      this.nodes.set(key, cloud);
    }
    this.forget();
    return isChanged;
  }

  /** Frees the points that were not drawn for longest. */
  private forget(): void {
    let points = 0;
    this.nodes.forEach((_, key) => (points += this.counts.get(key) ?? 0));
    for (const [key, cloud] of this.nodes) {
      if (points <= KEPT || cloud.visible) return;
      points -= this.counts.get(key) ?? 0;
      cloud.removeFromParent();
      cloud.geometry.dispose();
      this.looks.remove(cloud);
      this.nodes.delete(key);
      this.requested.delete(key);
    }
  }

  private load(name: string, load: () => Promise<void>, stage: StreamStage): void {
    if (this.loading >= REQUESTS || this.requested.has(name)) return;
    this.requested.add(name);
    this.loading += 1;
    const done = () => {
      this.loading -= 1;
      this.isStale = true;
      stage.draw();
    };
    load().then(done, (error: unknown) => {
      if (this.ended) return;
      // It is tried again once the camera moves.
      if (!this.failed.size) toast(errorText(error));
      this.failed.add(name);
      done();
    });
  }
}

type Present = Record<'color' | '_intensity' | '_classification', boolean>;

function geometryOf(points: CloudPoints, present: Present): BufferGeometry {
  const { positions, colors, intensities, classes } = points;
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(positions, 3));
  if (present.color) geometry.setAttribute('color', new BufferAttribute(colors, 3, true));
  if (present._intensity) geometry.setAttribute('_intensity', new BufferAttribute(intensities, 1));
  if (present._classification)
    geometry.setAttribute('_classification', new BufferAttribute(classes, 1));
  return geometry;
}
