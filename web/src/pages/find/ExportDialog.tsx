import { useEffect, useState } from 'react';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { exportTexts } from '../../texts/export';
import { CopyCommandButton } from '../../ui/CopyCommandButton';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { saveFile } from '../../ui/saveFile';
import { toast } from '../../ui/Toasts';
import { searchCommand } from './commands';
import { exportHits } from './exportHits';
import type { FindState } from './findState';

/** Saves the hits of a search as a list, or copies the command that searches for them. */
export function ExportDialog({ state, onClose }: { state: FindState; onClose: () => void }) {
  const [progress, setProgress] = useState<string | null>(null);
  const [failure, setFailure] = useState('');
  // Closing the dialog stops the export.
  const [stop] = useState(() => new AbortController());
  useEffect(() => () => stop.abort(), [stop]);
  const command = searchCommand(state);
  const save = async () => {
    setFailure('');
    setProgress(texts.loading);
    try {
      const { csv, assets } = await exportHits(state, stop.signal, (done, of) =>
        setProgress(exportTexts.progress(done, of)),
      );
      saveFile(new Blob([csv], { type: 'text/csv' }), exportTexts.fileName);
      toast(exportTexts.done(assets));
      onClose();
    } catch (error) {
      if (stop.signal.aborted) return;
      setProgress(null);
      setFailure(errorText(error));
    }
  };
  return (
    <Dialog title={exportTexts.title} onClose={onClose}>
      <p>{exportTexts.help}</p>
      <p role="status">{progress}</p>
      <p role="alert" className="failure">
        {failure}
      </p>
      <div className="acts">
        <button
          type="button"
          className="primary"
          disabled={progress !== null}
          onClick={() => void save()}
        >
          {exportTexts.csv}
        </button>
        {command !== null && <CopyCommandButton command={command} />}
        <CloseButton />
      </div>
    </Dialog>
  );
}
