import { SparkRenderer, SplatFileType, SplatMesh } from '@sparkjsdev/spark';
import { Box3, Group, Vector3 } from 'three';
import { fileExtension } from '../ui/fileKinds';
import { UnreadableError, type Loaded, type StreamStage } from './parseModel';

const TYPES = new Map([
  ['ply', SplatFileType.PLY],
  ['splat', SplatFileType.SPLAT],
  ['spz', SplatFileType.SPZ],
  ['ksplat', SplatFileType.KSPLAT],
  ['sog', SplatFileType.PCSOGSZIP],
]);
/** Of the splats at each end of an axis: single ones of the sky would make all others a dot. */
const FAR = 0.001;
const SAMPLE = 100_000;

/** Reads Gaussian splats; each is drawn as what it is, sorted by its distance. */
export async function parseSplats(data: ArrayBuffer, path: string): Promise<Loaded> {
  const extension = fileExtension(path);
  const mesh = new SplatMesh({ fileBytes: data, fileType: TYPES.get(extension) });
  // The words of the library are for developers.
  await mesh.initialized.catch(() => null);
  if (!mesh.packedSplats?.numSplats) throw new UnreadableError();
  // All but SPZ are stored as they are trained: y points down, z forward.
  if (extension !== 'spz') mesh.rotation.x = Math.PI;
  const scene = new Group().add(mesh);
  scene.updateMatrixWorld(true);
  const box = boxOf(mesh.packedSplats).applyMatrix4(mesh.matrixWorld);
  const start = (stage: StreamStage) => draw(mesh, stage);
  return { scene, animations: [], missing: [], stream: { box, start } };
}

function draw(mesh: SplatMesh, { renderer, scene, draw }: StreamStage): () => void {
  const spark = new SparkRenderer({ renderer, onDirty: draw });
  // What was computed on the graphics card is lost with its context.
  const restore = () => mesh.updateVersion();
  renderer.domElement.addEventListener('webglcontextrestored', restore);
  scene.add(spark);
  return () => {
    renderer.domElement.removeEventListener('webglcontextrestored', restore);
    spark.removeFromParent();
    spark.dispose();
    mesh.dispose();
  };
}

/** The box around the centres of the splats, without those that are far from all others. */
function boxOf(splats: NonNullable<SplatMesh['packedSplats']>): Box3 {
  const every = Math.ceil(splats.numSplats / SAMPLE);
  const columns: [number[], number[], number[]] = [[], [], []];
  for (let at = 0; at < splats.numSplats; at += every) {
    const place = splats.getSplat(at).center.toArray();
    place.forEach((value, axis) => columns[axis]?.push(value));
  }
  const ends = columns.map((column) => {
    column.sort((a, b) => a - b);
    const beyond = Math.floor(column.length * FAR);
    return [column[beyond] ?? 0, column[column.length - 1 - beyond] ?? 0] as const;
  });
  const [low, high] = [0, 1].map((end) => new Vector3(...ends.map((pair) => pair[end] ?? 0)));
  return new Box3(low, high);
}
