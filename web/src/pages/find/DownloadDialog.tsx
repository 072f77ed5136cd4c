import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { isRetryable, errorText } from '../../api/errors';
import { texts } from '../../texts';
import { selectionTexts } from '../../texts/selection';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { InlineError } from '../../ui/InlineError';
import { saveFile } from '../../ui/saveFile';
import { toast } from '../../ui/Toasts';
import { CopyCommandButton } from '../../ui/CopyCommandButton';
import { visibleName } from '../../texts/formats';
import { downloadCommand } from './commands';
import {
  downloadPlan,
  selectedFilesQuery,
  type AssetCard,
  type LeftOut,
  type Target,
} from './selectedFiles';
import { LeftOutList } from './LeftOutList';
import { assetFolders, createZip, folderName } from './zip';

const words = selectionTexts;

interface DownloadDialogProps {
  cards: AssetCard[];
  /** Only the files in a folder of the only asset; they are downloaded at once if none is left out. */
  folder?: string;
  onClose: () => void;
}

/** Packs the files of assets, or of a folder, into one file, and names what it leaves out. */
export function DownloadDialog({ cards, folder, onClose }: DownloadDialogProps) {
  const selectedFiles = useQuery(selectedFilesQuery(cards, folder));
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
      const result = await createZip(plan.targets, { signal: stop.signal, at: setDone }, folder);
      setDone(null);
      setFailed(result.failed);
      if (!result.zip) return;
      saveFile(result.zip, `${zipName(plan.targets, cards.length, folder)}.zip`);
      toast(words.downloaded(files - result.failed.length));
      if (!result.failed.length) onClose();
    } catch (error) {
      if (stop.signal.aborted) return;
      setDone(null);
      setFailure(error);
    }
  };
  const isStarted = useRef(false);
  useEffect(() => {
    if (folder === undefined || !files || plan?.leftOut.length || isStarted.current) return;
    isStarted.current = true;
    void start();
  });
  return (
    <Dialog title={dialogTitle(cards.length, folder)} onClose={onClose}>
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
        <CopyCommandButton command={downloadCommand(cards, folder)} />
        <CloseButton text={done !== null ? words.stop : ended ? texts.close : texts.cancel} />
      </div>
    </Dialog>
  );
}

const dialogTitle = (assets: number, folder: string | undefined): string =>
  folder === undefined
    ? words.downloadTitle(assets)
    : words.downloadFolder(visibleName(folderName(folder)));

function zipName(targets: readonly Target[], assets: number, folder: string | undefined): string {
  if (folder !== undefined) return folderName(folder) || words.zipName;
  const [name = ''] = assets === 1 ? assetFolders(targets).values() : [];
  return name || words.zipName;
}
