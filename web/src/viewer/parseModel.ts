import {
  LoadingManager,
  type AnimationClip,
  type Box3,
  type Group,
  type PerspectiveCamera,
  type Scene,
  type WebGLRenderer,
} from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { NetworkError } from '../api/errors';
import { viewerTexts } from '../texts/viewer';
import { loadChunk } from '../api/loadChunk';
import {
  allowedUrl,
  BASE,
  nameOfReference,
  pathOfReference,
  referencesOf,
  type References,
} from './gltf';
import { companionUrls, type Place } from '../api/downloads';
import type { PointLooks } from './pointLooks';
import type { Structure } from './structure';

export interface Loaded {
  scene: Group;
  animations: AnimationClip[];
  /** References that are no files of the asset. */
  missing: string[];
  /** Loads the types and properties of the elements of a building. */
  loadStructure?: () => Promise<Structure>;
  /** What draws itself, or is loaded as the camera moves: splats, and large clouds. */
  stream?: Stream;
}

export interface Stream {
  /** What is framed. */
  box: Box3;
  points?: PointLooks;
  /** Begins drawing; the function that it returns ends it, and frees its memory. */
  start: (stage: StreamStage) => () => void;
}

/** What a stream needs of the scene that shows it. */
export interface StreamStage {
  renderer: WebGLRenderer;
  camera: PerspectiveCamera;
  scene: Scene;
  draw: () => void;
  onDraw: (listener: () => void) => () => void;
}

/** The bytes are no model that three.js reads; its own words are for developers. */
export class UnreadableError extends Error {
  constructor() {
    super(viewerTexts.failed);
  }
}

const unreadable = (): never => {
  throw new UnreadableError();
};

const DECODERS = `${import.meta.env.BASE_URL}decoders/`;
/** A file from anyone may name any number of files; all addresses are requested at once. */
const MOST_REFERENCES = 500;

/** Parses a GLB or glTF; its companions are files of the same asset, and nothing else is loaded. */
export async function parseModel(
  data: ArrayBuffer,
  origin: { place: Place; path: string; assetVersionId?: string },
): Promise<Loaded> {
  const { uris, extensions, required } = parseReferences(data);
  // The transcoder of three.js evaluates text as code, which the page's policy refuses. Textures in
  // KTX2 that have another form beside it are loaded in that form.
  if (required.includes('KHR_texture_basisu')) throw new Error(viewerTexts.ktx2);
  // three.js requests an address again for each image that has it.
  if (uris.length > MOST_REFERENCES)
    throw new Error(viewerTexts.manyReferences(uris.length, MOST_REFERENCES));
  const named = [...new Set(uris)];
  const paths = named.flatMap((uri) => pathOfReference(uri, origin.path) ?? []);
  const urls = await companionUrls(origin.place, [...new Set(paths)], origin.assetVersionId);
  const companions = new Map<string, string>();
  const missing: string[] = [];
  for (const uri of named) {
    const url = urls.get(pathOfReference(uri, origin.path) ?? '');
    if (url === undefined) missing.push(nameOfReference(uri));
    else companions.set(uri, url);
  }
  const manager = new LoadingManager();
  manager.setURLModifier((url) => allowedUrl(url, companions));
  let isLost = false;
  manager.onError = (url) => (isLost ||= [...companions.values()].includes(url));
  const loader = new GLTFLoader(manager);
  const release = await addDecoders(loader, extensions);
  try {
    const parsed = await loader.parseAsync(data, BASE).catch(() => {
      // A file that it refers to did not arrive.
      if (isLost) throw new NetworkError();
      return unreadable();
    });
    return { scene: parsed.scene, animations: parsed.animations, missing };
  } finally {
    release();
  }
}

function parseReferences(data: ArrayBuffer): References {
  try {
    return referencesOf(data);
  } catch {
    return unreadable();
  }
}

/** Adds the decoders that a file needs, from the page's own origin; most files need none. */
async function addDecoders(loader: GLTFLoader, extensions: string[]): Promise<() => void> {
  const releases: (() => void)[] = [];
  if (extensions.includes('KHR_draco_mesh_compression')) {
    const { DRACOLoader } = await loadChunk(() => import('three/addons/loaders/DRACOLoader.js'));
    const draco = new DRACOLoader().setDecoderPath(DECODERS);
    loader.setDRACOLoader(draco);
    releases.push(() => draco.dispose());
  }
  if (extensions.some((extension) => extension.endsWith('meshopt_compression'))) {
    const { MeshoptDecoder } = await loadChunk(
      () => import('three/addons/libs/meshopt_decoder.module.js'),
    );
    loader.setMeshoptDecoder(MeshoptDecoder);
  }
  return () => releases.forEach((release) => release());
}
