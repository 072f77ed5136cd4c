import {
  fetchDerivedGlb,
  downloadUrl,
  type DerivedGlb,
  type FileVersion,
  type Place,
} from '../api/downloads';
import { fetchWithIdleTimeout } from '../api/idleTimeout';
import { loadChunk } from '../api/loadChunk';
import type { Missing } from '../api/pictures';
import { viewerTexts } from '../texts/viewer';
import { fileExtension, fileKind, isCopc, isGltf } from '../ui/fileKinds';
import { fetchBytes, LargeFileError } from './fetchBytes';
import { parseModel, UnreadableError, type Loaded } from './parseModel';
import { loadStructure } from './structure';

export interface Options {
  signal: AbortSignal;
  large: boolean;
  progress: (fraction: number) => void;
  inspecting: () => void;
  version: FileVersion | undefined;
}

/** The file contains no model, such as a photograph, or is not inspected. */
export class NoModelError extends Error {}

/** Loads a model: a format that the page reads itself, else the GLB that the server made. */
export async function loadModel(
  place: Place,
  path: string,
  options: Options,
): Promise<{ loaded: Loaded; derived: boolean }> {
  const { version } = options;
  let failure: unknown = null;
  try {
    const loaded = await loadOriginal(place, path, options);
    if (loaded) return { loaded, derived: false };
  } catch (error) {
    // The server may have made a GLB of what the page cannot read.
    if (error instanceof LargeFileError || options.signal.aborted) throw error;
    failure = error;
  }
  const { glb, glbMissing, structure } = version
    ? await fetchDerivedGlb(place, path)
    : await waitForGlb(place, path, options);
  // The server has that of the newest content only.
  if (version && glb?.versionId !== version.versionId)
    throw failure instanceof Error ? failure : new Error(viewerTexts.earlier);
  if (!glb) {
    // Of a file that cannot be read the server knows the reason.
    if (failure instanceof Error && !(failure instanceof UnreadableError)) throw failure;
    if (glbMissing?.reason === 'none') throw new NoModelError(glbMissing.message);
    throw new Error(glbMissing ? missingReason(glbMissing) : viewerTexts.notDerived);
  }
  const bytes = await fetchBytes(glb.url, options);
  const loaded = await parseModel(bytes, { place, path });
  if (structure) loaded.loadStructure = () => loadStructure(place, path, glb.versionId);
  return { loaded, derived: true };
}

/** Loads the file itself; null if the page does not read its format. */
async function loadOriginal(place: Place, path: string, options: Options): Promise<Loaded | null> {
  const { signal, version } = options;
  const address = () => downloadUrl(place, path, { version });
  if (isCopc(path)) {
    const { loadCopc } = await loadChunk(() => import('./copcCloud'));
    return loadCopc(address, signal);
  }
  const isPly = fileExtension(path) === 'ply';
  if (isPly ? await hasSplats(await address(), signal) : fileKind(path) === 'splats') {
    const { parseSplats } = await loadChunk(() => import('./spark'));
    return parseSplats(await fetchBytes(await address(), options), path);
  }
  if (!isGltf(path)) return null;
  const bytes = await fetchBytes(await address(), options);
  return parseModel(bytes, { place, path, assetVersionId: version?.assetVersionId });
}

/** Long enough for the properties of splats with all their harmonics. */
const HEADER = 4096;

/** Whether the points of a PLY are splats: each has an opacity and colours by harmonics. */
async function hasSplats(url: string, signal: AbortSignal): Promise<boolean> {
  const headers = { range: `bytes=0-${HEADER - 1}` };
  const response = await fetchWithIdleTimeout(url, { signal, headers });
  // A storage that ignores ranges sends all of it.
  const { value } = (await response.body?.getReader().read()) ?? {};
  return isSplatHeader(new TextDecoder('latin1').decode(value));
}

export const isSplatHeader = (text: string): boolean =>
  /^ply\s/.test(text) &&
  /\bproperty \w+ (?:f_dc_0|packed_color)\s/.test(text.split('end_header')[0] ?? '');

const missingReason = ({ reason, message }: Missing): string =>
  reason === 'refused' ? viewerTexts.refused(message) : message;

// An inspection takes a few seconds, and that of a large model minutes.
const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 30_000;

/** Returns the GLB that was made of a file; of a new file, once it has been inspected. */
async function waitForGlb(place: Place, path: string, options: Options): Promise<DerivedGlb> {
  for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 1.5, LONGEST_WAIT)) {
    const derived = await fetchDerivedGlb(place, path);
    if (derived.glb || derived.glbMissing?.reason !== 'inspecting') return derived;
    options.signal.throwIfAborted();
    options.inspecting();
    await new Promise((resolve) => setTimeout(resolve, wait));
    options.signal.throwIfAborted();
  }
}
