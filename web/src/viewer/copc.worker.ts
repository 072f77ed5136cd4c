// Reads clouds of COPC by ranges, and decompresses their points.
import { Copc, type Hierarchy } from 'copc';
import { createLazPerf, type LazPerf } from 'laz-perf';
import wasm from 'laz-perf/lib/worker/laz-perf.wasm?url';
import type { CloudHead, CloudPoints, CopcReply, CopcRequest } from './copcMessages';

let url = '';
let copc: Copc | null = null;
let decoder: Promise<LazPerf> | null = null;
const nodes = new Map<string, Hierarchy.Node>();
const pages = new Map<string, Hierarchy.Page>();
/** Colours have 16 bits; some programs write only 8 of them. */
let shift = 8;

class StatusError extends Error {
  constructor(readonly status: number) {
    super(`The storage replied with the status ${status}`);
  }
}

async function readRange(begin: number, end: number): Promise<Uint8Array> {
  const range = `bytes=${begin}-${end - 1}`;
  const response = await fetch(url, { headers: { range } }).catch(() => {
    throw new StatusError(0);
  });
  // A reply with the whole file would have any size.
  if (response.status === 200) await response.body?.cancel();
  if (response.status !== 206) throw new StatusError(response.status);
  return new Uint8Array(await response.arrayBuffer());
}

async function open(): Promise<CloudHead> {
  copc = await Copc.create(readRange);
  const { header, info } = copc;
  pages.set('0-0-0-0', info.rootHierarchyPage);
  const { min, max, pointCount } = header;
  return { min, max, cube: info.cube, spacing: info.spacing, points: pointCount };
}

/** Reads the part of the tree that begins at a node; its own nodes and pages are returned. */
async function readPage(key: string) {
  const page = pages.get(key);
  if (!page) return { nodes: [], pages: [] };
  const tree = await Copc.loadHierarchyPage(readRange, page);
  pages.delete(key);
  for (const [name, node] of Object.entries(tree.nodes)) if (node) nodes.set(name, node);
  for (const [name, child] of Object.entries(tree.pages)) if (child) pages.set(name, child);
  const counts = Object.entries(tree.nodes).map(([name, node]): [string, number] => [
    name,
    node?.pointCount ?? 0,
  ]);
  return { nodes: counts, pages: Object.keys(tree.pages) };
}

async function readPoints(key: string): Promise<CloudPoints> {
  const node = nodes.get(key);
  if (!copc || !node) throw new RangeError(key);
  // Its types need those of Emscripten, which it does not declare as a dependency.
  const create = createLazPerf as (options: object) => Promise<unknown>;
  decoder ??= create({ locateFile: () => wasm }) as Promise<LazPerf>;
  const lazPerf = await (decoder as Promise<object>);
  const view = await Copc.loadPointDataView(readRange, copc, node, { lazPerf });
  const { min, max } = copc.header;
  const middle = min.map((low, axis) => (low + (max[axis] ?? low)) / 2);
  const column = (name: string) => (name in view.dimensions ? view.getter(name) : (): number => 0);
  const [x, y, z] = ['X', 'Y', 'Z'].map(column) as [Get, Get, Get];
  const [red, green, blue] = ['Red', 'Green', 'Blue'].map(column) as [Get, Get, Get];
  const [intensity, classification] = [column('Intensity'), column('Classification')];
  const { pointCount } = view;
  const points = {
    positions: new Float32Array(pointCount * 3),
    colors: new Uint16Array(pointCount * 3),
    intensities: new Uint16Array(pointCount),
    classes: new Uint8Array(pointCount),
  };
  const [east = 0, north = 0, up = 0] = middle;
  for (let at = 0; at < pointCount; at++) {
    // The up axis of a file is z, that of the scene y.
    points.positions.set([x(at) - east, z(at) - up, north - y(at)], at * 3);
    points.colors.set([red(at), green(at), blue(at)], at * 3);
    points.intensities[at] = intensity(at);
    points.classes[at] = classification(at);
  }
  // The first node has points of the whole cloud.
  if (key === '0-0-0-0') shift = points.colors.some((channel) => channel > 255) ? 8 : 0;
  points.colors.forEach((channel, at) => (points.colors[at] = LINEAR[channel >> shift] ?? 0));
  return points;
}

type Get = (at: number) => number;

/** The light of a colour of the screen. */
const LINEAR = Uint16Array.from({ length: 256 }, (_, channel: number) => {
  const value = channel / 255;
  return 65535 * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
});

async function replyTo(request: CopcRequest): Promise<CopcReply> {
  const { id, kind } = request;
  if (request.url) url = request.url;
  if (kind === 'open') return { id, head: await open() };
  if (kind === 'page') return { id, page: await readPage(request.key) };
  return { id, points: await readPoints(request.key) };
}

self.addEventListener('message', ({ data }: MessageEvent<CopcRequest>) => {
  replyTo(data).then(
    (reply) => {
      const columns: ArrayBufferView<ArrayBuffer>[] = reply.points
        ? Object.values<ArrayBufferView<ArrayBuffer>>({ ...reply.points })
        : [];
      const buffers = columns.map(({ buffer }) => buffer);
      self.postMessage(reply, { transfer: buffers });
    },
    (error: unknown) => {
      const status = error instanceof StatusError ? error.status : null;
      self.postMessage({ id: data.id, status } satisfies CopcReply);
    },
  );
});
