import { useState } from 'react';
import { createPortal } from 'react-dom';
import type { Place } from '../api/downloads';
import { viewerTexts } from '../texts/viewer';
import { fileName } from '../ui/fileKinds';
import { lazyComponent } from '../ui/lazyComponent';
import { LazyDialog } from '../ui/LazyDialog';
import { saveFile } from '../ui/saveFile';
import { toast } from '../ui/Toasts';
import type { StageFile } from './Poster';
import type { ShownModel } from './scene';
import { copyLink, viewLink } from './viewLink';
import { encodeView, viewOf } from './viewState';

const SaveViewDialog = lazyComponent(() => import('./SaveViewDialog'), 'SaveViewDialog');
const SavedViewsDialog = lazyComponent(() => import('./SavedViewsDialog'), 'SavedViewsDialog');

/** Longer addresses are cut off by programs that people send them with. */
const LONGEST = 2000;
/** The server saves no longer view. */
const LONGEST_SAVED = 65_536;

/** Copies a link that leads to a model as it is seen now, saves its picture, or shows it alone. */
export function ViewButtons(props: { shown: ShownModel; place: Place; file: StageFile }) {
  const { shown, place, file } = props;
  // The view that is too long for a link, or the list of saved ones.
  const [open, setOpen] = useState<{ view: string; length: number } | 'list' | null>(null);
  const close = () => setOpen(null);
  const copy = async () => {
    const view = encodeView(viewOf(shown.scene, shown.loaded.scene));
    const url = viewLink(place, file, { camera: view });
    if (view.length > LONGEST_SAVED) toast(viewerTexts.tooLongView);
    else if (url.length > LONGEST) setOpen({ view, length: url.length });
    else await copyLink(url);
  };
  const save = async () => {
    const blob = await shown.scene.picture();
    if (blob) saveFile(blob, `${fileName(file.path)}.png`);
  };
  const enlarge = () =>
    document.fullscreenElement
      ? document.exitFullscreen()
      : shown.scene.host.closest('.stage')?.requestFullscreen();
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {viewerTexts.copyView}
      </button>
      <button type="button" onClick={() => setOpen('list')}>
        {viewerTexts.savedViews}
      </button>
      <button type="button" onClick={() => void save()}>
        {viewerTexts.screenshot}
      </button>
      {document.fullscreenEnabled && (
        <button type="button" onClick={() => void enlarge()}>
          {viewerTexts.fullScreen}
        </button>
      )}
      {open &&
        createPortal(
          <LazyDialog onClose={close}>
            {open === 'list' ? (
              <SavedViewsDialog place={place} onClose={close} />
            ) : (
              <SaveViewDialog {...open} {...{ place, file, scene: shown.scene }} onClose={close} />
            )}
          </LazyDialog>,
          // Beside the tools, whose buttons have a look of their own.
          shown.scene.host.closest('.stage') ?? document.body,
        )}
    </>
  );
}
