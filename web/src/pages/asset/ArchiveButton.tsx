import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { archiveAsset, restoreAsset } from '../../api/archiving';
import type { Place } from '../../api/downloads';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { assetTexts } from '../../texts/asset';
import { archivedTexts } from '../../texts/archived';
import { selectionTexts } from '../../texts/selection';
import { lazyComponent } from '../../ui/lazyComponent';
import { LazyDialog } from '../../ui/LazyDialog';
import { toast } from '../../ui/Toasts';

const ArchiveDialog = lazyComponent(() => import('./ArchiveDialog'), 'ArchiveDialog');

/** Archives the asset; this can be undone, since nothing is lost. */
export function ArchiveButton({ place, name }: { place: Place; name: string }) {
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const change = async (act: typeof archiveAsset, done: string, undo?: () => void) => {
    setOpen(false);
    setBusy(true);
    try {
      await act(place);
      toast(done, undo && { name: texts.undo, act: undo });
      // The button that had the focus disappears.
      document.getElementById('content')?.focus({ preventScroll: true });
    } catch (error) {
      toast(errorText(error));
    }
    // Also after a failure: what is not known to be archived may be.
    await cache.invalidateQueries();
    setBusy(false);
  };
  const restore = () => void change(restoreAsset, archivedTexts.restored);
  return (
    <>
      <button
        type="button"
        aria-label={assetTexts.archive}
        disabled={isBusy}
        onClick={() => setOpen(true)}
      >
        {selectionTexts.archive}
      </button>
      {isOpen && (
        <LazyDialog onClose={() => setOpen(false)}>
          <ArchiveDialog
            assets={[{ ...place, name }]}
            onClose={() => setOpen(false)}
            onConfirm={() => void change(archiveAsset, selectionTexts.archived(1), restore)}
          />
        </LazyDialog>
      )}
    </>
  );
}
