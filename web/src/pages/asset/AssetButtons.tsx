import { useState } from 'react';
import { downloadUrl, type Place } from '../../api/downloads';
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

export function DownloadButton({ place, path }: { place: Place; path: string | undefined }) {
  const [signing, setSigning] = useState(false);
  const download = async () => {
    if (!path) return;
    setSigning(true);
    try {
      const link = document.createElement('a');
      // Without it, a browser would open images and texts instead of saving them.
      link.href = await downloadUrl(place, path, true);
      link.rel = 'noreferrer';
      link.click();
    } catch (error) {
      toast(errorText(error));
    }
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
