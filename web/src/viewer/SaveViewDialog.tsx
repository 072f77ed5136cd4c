import { useId, useState, type SyntheticEvent } from 'react';
import type { Place } from '../api/downloads';
import { saveView } from '../api/savedViews';
import { filesTexts } from '../texts/files';
import { formatNumber } from '../texts/formats';
import { savedTexts } from '../texts/saved';
import { viewerTexts } from '../texts/viewer';
import { CloseButton, Dialog } from '../ui/Dialog';
import { useFormError } from '../ui/useFormError';
import type { StageFile } from './Poster';
import type { ModelScene } from './scene';
import { copyLink, viewLink } from './viewLink';

/** In pixels: the first whose picture is small enough is taken. */
const WIDTHS = [512, 256, 128];
/** The server accepts 200,000 bytes; in base64 these are a third more. */
const LONGEST_PICTURE = 266_000;

/** Saves a view that is too long for a link under a name, and copies a link to it. */
export function SaveViewDialog(props: {
  place: Place;
  file: StageFile;
  scene: Pick<ModelScene, 'picture'>;
  view: string;
  length: number;
  onClose: () => void;
}) {
  const { place, file, scene, view, length, onClose } = props;
  const id = useId();
  const [name, setName] = useState('');
  const [busy, setBusy] = useState(false);
  const { fieldProps, showError, showApiError, message } = useFormError();
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const chosen = name.trim();
    if (!chosen) {
      showError(savedTexts.emptyName, 'name');
      return;
    }
    setBusy(true);
    try {
      const { assetVersionId, versionId } = file.earlier ?? {};
      const viewId = await saveView(place, {
        name: chosen,
        filePath: file.path,
        view,
        picture: await smallPicture(scene),
        ...(assetVersionId === undefined ? versionId && { versionId } : { assetVersionId }),
      });
      onClose();
      await copyLink(viewLink(place, file, { view: viewId }));
    } catch (error) {
      setBusy(false);
      showApiError(error);
    }
  };
  return (
    <Dialog title={viewerTexts.saveView} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <p>{viewerTexts.longView(formatNumber(length))}</p>
        <label htmlFor={id}>{savedTexts.name}</label>
        <input
          id={id}
          dir="auto"
          maxLength={256}
          {...fieldProps('name')}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {message}
        <div className="acts">
          <button type="submit" className="primary" disabled={busy}>
            {busy ? filesTexts.busy : viewerTexts.saveAndCopy}
          </button>
          <CloseButton />
        </div>
      </form>
    </Dialog>
  );
}

/** What is on the canvas of a scene, as a small PNG in base64. */
async function smallPicture(scene: Pick<ModelScene, 'picture'>): Promise<string> {
  const blob = await scene.picture();
  for (const width of blob ? WIDTHS : []) {
    const bitmap = await createImageBitmap(blob as Blob, { resizeWidth: width });
    const canvas = document.createElement('canvas');
    canvas.width = bitmap.width;
    canvas.height = bitmap.height;
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
    const picture = canvas.toDataURL('image/png').split(',')[1] ?? '';
    if (picture && picture.length <= LONGEST_PICTURE) return picture;
  }
  throw new Error(viewerTexts.noPictureOfView);
}
