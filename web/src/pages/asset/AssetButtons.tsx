import { useState } from 'react';
import { downloadUrl, type FileVersion, type Place } from '../../api/downloads';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { toast } from '../../ui/Toasts';

export function CopyButton() {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      toast(texts.copied);
    } catch {
      toast(location.href); // the browser allows no access to the clipboard
    }
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {texts.copy}
    </button>
  );
}

/** Lets the browser save a file; it would open images and texts without `attachment`. */
export async function saveDownload(
  place: Place,
  path: string,
  version?: FileVersion,
): Promise<void> {
  try {
    const link = document.createElement('a');
    link.href = await downloadUrl(place, path, { attachment: true, version });
    link.rel = 'noreferrer';
    link.click();
  } catch (error) {
    toast(errorText(error));
  }
}

export function DownloadButton(props: {
  place: Place;
  path: string | undefined;
  version?: FileVersion;
}) {
  const { place, path, version } = props;
  const [signing, setSigning] = useState(false);
  const download = async () => {
    if (!path) return;
    setSigning(true);
    await saveDownload(place, path, version);
    setSigning(false);
  };
  return (
    <button
      type="button"
      className="primary"
      disabled={!path || signing}
      onClick={() => void download()}
    >
      {texts.download}
    </button>
  );
}
