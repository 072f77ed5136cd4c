import { defaultStringifySearch } from '@tanstack/react-router';
import type { Place } from '../api/downloads';
import { texts } from '../texts';
import { formatNumber } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { fileName } from '../ui/fileKinds';
import { saveFile } from '../ui/saveFile';
import { toast } from '../ui/Toasts';
import type { StageFile } from './Poster';
import type { ShownModel } from './scene';
import { encodeView, viewOf } from './viewState';

/** Longer addresses are cut off by programs that people send them with. */
const LONGEST = 2000;

/** Copies a link that leads to a model as it is seen now, saves its picture, or shows it alone. */
export function ViewButtons(props: { shown: ShownModel; place: Place; file: StageFile }) {
  const { shown, place, file } = props;
  const copy = async () => {
    const { versionId, assetVersionId } = file.earlier ?? {};
    const search = defaultStringifySearch({
      file: file.path,
      version: assetVersionId,
      content: assetVersionId === undefined ? versionId : undefined,
      camera: encodeView(viewOf(shown.scene, shown.loaded.scene)),
    });
    const [database, asset] = [place.databaseId, place.assetId].map(encodeURIComponent);
    const path = `${import.meta.env.BASE_URL}databases/${database}/assets/${asset}`;
    const url = location.origin + path + search;
    if (url.length > LONGEST) {
      toast(viewerTexts.longView(formatNumber(url.length), formatNumber(LONGEST)));
      return;
    }
    try {
      await navigator.clipboard.writeText(url);
      toast(texts.copied);
    } catch {
      toast(url); // the browser allows no access to the clipboard
    }
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
      <button type="button" onClick={() => void save()}>
        {viewerTexts.screenshot}
      </button>
      {document.fullscreenEnabled && (
        <button type="button" onClick={() => void enlarge()}>
          {viewerTexts.fullScreen}
        </button>
      )}
    </>
  );
}
