import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { isRetryable, errorText } from '../../api/errors';
import { texts } from '../../texts';
import { selectionTexts } from '../../texts/selection';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { InlineError } from '../../ui/InlineError';
import { saveFile } from '../../ui/saveFile';
import { toast } from '../../ui/Toasts';
import type { Card } from '../../api/hits';
import { downloadPlan, selectedFilesQuery, type LeftOut } from './selectedFiles';
import { LeftOutList } from './LeftOutList';
import { assetFolders, createZip } from './zip';

const words = selectionTexts;

/** Packs the files of the selected assets into one file, and names what it leaves out. */
export function DownloadDialog({ cards, onClose }: { cards: Card[]; onClose: () => void }) {
  const selectedFiles = useQuery(selectedFilesQuery(cards));
  const [done, setDone] = useState<number | null>(null);
  const [failed, setFailed] = useState<LeftOut[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  // Closing the dialog stops the download.
  const [stop] = useState(() => new AbortController());
  useEffect(() => () => stop.abort(), [stop]);
  const plan = selectedFiles.data && downloadPlan(selectedFiles.data);
  const files = plan?.targets.length ?? 0;
  const ended = failed.length > 0 || failure !== null;
  const start = async () => {
    if (!plan) return;
    setFailure(null);
    setFailed([]);
    setDone(0);
    try {
      const result = await createZip(plan.targets, { signal: stop.signal, at: setDone });
      setDone(null);
      setFailed(result.failed);
      if (!result.zip) return;
      const [folder = ''] = cards.length === 1 ? assetFolders(plan.targets).values() : [];
      saveFile(result.zip, `${folder || words.zipName}.zip`);
      toast(words.downloaded(files - result.failed.length));
      if (!result.failed.length) onClose();
    } catch (error) {
      if (stop.signal.aborted) return;
      setDone(null);
      setFailure(error);
    }
  };
  return (
    <Dialog title={words.downloadTitle(cards.length)} onClose={onClose}>
      {selectedFiles.isPending && <p role="status">{words.listing}</p>}
      <InlineError query={selectedFiles} />
      {plan && (
        <p role="status">
          {done === null
            ? words.files(
                files,
                plan.targets.reduce((sum, target) => sum + target.size, 0),
              )
            : words.progress(done + 1, files)}
        </p>
      )}
      {plan && <LeftOutList items={plan.leftOut} />}
      {failure !== null && (
        <p className="failure" role="alert">
          {errorText(failure)}
        </p>
      )}
      <div role="alert">
        <LeftOutList title={words.notDownloaded(failed.length)} items={failed} />
      </div>
      <p className="help">{words.downloadHelp}</p>
      <div className="acts">
        {(!ended || isRetryable(failure) || failed.some(({ again }) => again)) && (
          <button
            type="button"
            className="primary"
            disabled={!files || done !== null}
            onClick={() => void start()}
          >
            {ended ? texts.tryAgain : texts.download}
          </button>
        )}
        <CloseButton text={done !== null ? words.stop : ended ? texts.close : texts.cancel} />
      </div>
    </Dialog>
  );
}
