import { useEffect, useRef, useState } from 'react';
import { isRetryable, errorText } from '../api/errors';
import type { Missing } from '../api/pictures';
import { assetTexts } from '../texts/asset';
import { viewerTexts } from '../texts/viewer';
import { formatBytes } from '../texts/formats';
import { fetchBytes, LargeFileError } from './fetchBytes';
import { isGltf, fileName } from '../ui/fileKinds';
import { parseModel, UnreadableError, type Loaded } from './parseModel';
import { ModelScene, type ShownModel } from './scene';
import {
  fetchDerivedGlb,
  downloadUrl,
  type DerivedGlb,
  type FileVersion,
  type Place,
} from '../api/downloads';
import { Poster, type ViewProps } from './Poster';
import { ModelToolbar } from './ModelToolbar';
import { decodeView, showView } from './viewState';

type State =
  | { state: 'loading'; fraction?: number }
  | { state: 'inspecting' }
  | { state: 'large'; bytes: number }
  | { state: 'failed'; reason: string; again: boolean }
  | { state: 'shown'; shown: ShownModel };

/** A model: a glTF itself, anything else by the GLB that the server made of it. */
export function ModelView(props: ViewProps) {
  const { databaseId, assetId, file } = props;
  const { host, state, lost, retry, loadLarge } = useModel(props);
  return (
    <>
      <div ref={host} className="model" data-state={state.state} />
      {state.state === 'loading' && <Poster {...props} busy fraction={state.fraction} />}
      {state.state === 'inspecting' && <Poster {...props} note={assetTexts.inspecting} />}
      {state.state === 'failed' && (
        <Poster {...props} failure={state.reason} retry={state.again ? retry : undefined} />
      )}
      {state.state === 'large' && (
        <>
          <Poster {...props} />
          <p className="note">
            {viewerTexts.large(formatBytes(state.bytes))}{' '}
            <button type="button" onClick={loadLarge}>
              {viewerTexts.loadAnyway}
            </button>
          </p>
        </>
      )}
      {state.state === 'shown' && (
        <>
          <ModelToolbar shown={state.shown} place={{ databaseId, assetId }} file={file} />
          <Notes shown={state.shown} />
        </>
      )}
      {lost && (
        <p className="note" role="status">
          {viewerTexts.lost}
        </p>
      )}
    </>
  );
}

/** Loads a model and shows it in the element of `host`; again for another file or version. */
function useModel({ databaseId, assetId, file, view, seat }: ViewProps) {
  const { path, changedAt, earlier } = file;
  const { versionId: earlierId, assetVersionId } = earlier ?? {};
  const host = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<State>({ state: 'loading' });
  const [large, setLarge] = useState(false);
  const [tries, setTries] = useState(0);
  const [lost, setLost] = useState(false);
  const [first, setFirst] = useState(changedAt);
  // It may be known only after the model is requested, which is no change of the model.
  if (!first && changedAt) setFirst(changedAt);
  const change = !changedAt || changedAt === first ? null : changedAt;
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const ending = new AbortController();
    const { signal } = ending;
    let scene: ModelScene | null = null;
    let leave: (() => void) | undefined;
    setState({ state: 'loading' });
    const show = async () => {
      try {
        scene = new ModelScene(element, viewerTexts.label(fileName(path)), setLost);
      } catch {
        setState({ state: 'failed', reason: viewerTexts.noWebGl, again: false });
        return;
      }
      const progress = (fraction: number) => setState({ state: 'loading', fraction });
      const inspecting = () => setState({ state: 'inspecting' });
      const place = { databaseId, assetId };
      const version =
        earlierId === undefined ? undefined : { versionId: earlierId, assetVersionId };
      const options = { signal, large, progress, inspecting, version };
      const model = await loadModel(place, path, options);
      if (signal.aborted) return;
      const { x, y, z } = scene.show(model.loaded);
      leave = seat?.add(scene);
      const viewMessage =
        view === undefined ? undefined : showLinkedView(scene, model.loaded, view);
      setState({ state: 'shown', shown: { scene, extent: [x, y, z], viewMessage, ...model } });
    };
    show().catch((failure: unknown) => {
      if (signal.aborted) return;
      scene?.dispose();
      scene = null;
      if (failure instanceof LargeFileError) setState({ state: 'large', bytes: failure.bytes });
      else setState({ state: 'failed', reason: errorText(failure), again: isRetryable(failure) });
    });
    return () => {
      ending.abort();
      leave?.();
      scene?.dispose();
    };
  }, [databaseId, assetId, path, change, earlierId, assetVersionId, large, tries, view, seat]);
  return {
    host,
    state,
    lost,
    retry: () => setTries(tries + 1),
    loadLarge: () => setLarge(true),
  };
}

/** Shows the view of a link; returns what a person should know of it. */
function showLinkedView(scene: ModelScene, loaded: Loaded, text: string): string | undefined {
  const view = decodeView(text);
  if (!view) return viewerTexts.wrongView;
  return showView(scene, loaded.scene, view) ? undefined : viewerTexts.otherParts;
}

function Notes({ shown }: { shown: ShownModel }) {
  const { missing } = shown.loaded;
  return (
    <>
      <p className="hidden">{viewerTexts.help}</p>
      {(shown.derived || shown.viewMessage || missing.length > 0) && (
        <p className="note low">
          {shown.viewMessage} {shown.derived && viewerTexts.derived}
          {missing.length > 0 && <bdi> {viewerTexts.missing(missing.slice(0, 5))}</bdi>}
        </p>
      )}
    </>
  );
}

interface Options {
  signal: AbortSignal;
  large: boolean;
  progress: (fraction: number) => void;
  inspecting: () => void;
  version: FileVersion | undefined;
}

async function loadModel(
  place: Place,
  path: string,
  options: Options,
): Promise<{ loaded: Loaded; derived: boolean }> {
  const { version } = options;
  let failure: unknown = null;
  if (isGltf(path)) {
    try {
      const bytes = await fetchBytes(await downloadUrl(place, path, { version }), options);
      const assetVersionId = version?.assetVersionId;
      const loaded = await parseModel(bytes, { place, path, assetVersionId });
      return { loaded, derived: false };
    } catch (error) {
      // The server may have made a GLB of what three.js cannot read.
      if (error instanceof LargeFileError || options.signal.aborted) throw error;
      failure = error;
    }
  }
  const { glb, glbMissing } = version
    ? await fetchDerivedGlb(place, path)
    : await waitForGlb(place, path, options);
  // The server has that of the newest content only.
  if (version && glb?.versionId !== version.versionId)
    throw failure instanceof Error ? failure : new Error(viewerTexts.earlier);
  if (!glb) {
    // Of a file that cannot be read the server knows the reason.
    if (failure instanceof Error && !(failure instanceof UnreadableError)) throw failure;
    throw new Error(glbMissing ? missingReason(glbMissing) : viewerTexts.notDerived);
  }
  const bytes = await fetchBytes(glb.url, options);
  return { loaded: await parseModel(bytes, { place, path }), derived: true };
}

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
