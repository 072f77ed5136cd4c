import { useEffect, useRef, useState } from 'react';
import { isRetryable, errorText } from '../api/errors';
import type { Place } from '../api/downloads';
import { getView, isSavedView } from '../api/savedViews';
import { assetTexts } from '../texts/asset';
import { viewerTexts } from '../texts/viewer';
import { formatBytes } from '../texts/formats';
import { fileName } from '../ui/fileKinds';
import { LargeFileError } from './fetchBytes';
import { loadModel, NoModelError } from './loadModel';
import { ModelScene, type ShownModel } from './scene';
import { Poster, type ViewProps } from './Poster';
import { ModelToolbar } from './ModelToolbar';
import { decodeView, showView, type ViewState } from './viewState';

type State =
  | { state: 'loading'; fraction?: number }
  | { state: 'inspecting' }
  | { state: 'large'; bytes: number }
  | { state: 'failed'; reason: string; again: boolean }
  | { state: 'none'; reason: string }
  | { state: 'shown'; shown: ShownModel };

/** A model: a glTF itself, anything else by the GLB that the server made of it. */
export function ModelView(props: ViewProps) {
  const { databaseId, assetId, file, picture } = props;
  const { host, state, lost, retry, loadLarge } = useModel(props);
  const hasPicture = picture.file ?? picture.preview;
  return (
    <>
      <div ref={host} className="model" data-state={state.state} />
      {state.state === 'loading' && <Poster {...props} busy fraction={state.fraction} />}
      {state.state === 'inspecting' && <Poster {...props} note={assetTexts.inspecting} />}
      {state.state === 'failed' && (
        <Poster {...props} failure={state.reason} retry={state.again ? retry : undefined} />
      )}
      {state.state === 'none' && (
        <Poster
          {...props}
          {...(hasPicture
            ? { caption: viewerTexts.pictureOf(state.reason) }
            : { failure: state.reason })}
        />
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
      const [model, linked] = await Promise.all([
        loadModel(place, path, options),
        linkedView(place, view),
      ]);
      if (signal.aborted) return;
      const { x, y, z } = scene.show(model.loaded);
      leave = seat?.add(scene);
      const viewMessage =
        typeof linked !== 'object'
          ? linked
          : showView(scene, model.loaded.scene, linked)
            ? undefined
            : viewerTexts.otherParts;
      setState({ state: 'shown', shown: { scene, extent: [x, y, z], viewMessage, ...model } });
    };
    show().catch((failure: unknown) => {
      if (signal.aborted) return;
      scene?.dispose();
      scene = null;
      if (failure instanceof LargeFileError) setState({ state: 'large', bytes: failure.bytes });
      else if (failure instanceof NoModelError)
        setState({ state: 'none', reason: failure.message });
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

/** Returns the view that a link has or names, or why there is none. */
async function linkedView(
  place: Place,
  link: string | undefined,
): Promise<ViewState | string | undefined> {
  if (link === undefined) return undefined;
  try {
    const text = isSavedView(link) ? (await getView(place, link)).view : link;
    return decodeView(text) ?? viewerTexts.wrongView;
  } catch (error) {
    return viewerTexts.lostView(errorText(error));
  }
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
