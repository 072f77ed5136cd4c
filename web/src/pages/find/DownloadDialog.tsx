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
  IN_MEMORY,
  selectedFilesQuery,
  STREAMED,
  type AssetCard,
  type LeftOut,
  type Target,
} from './selectedFiles';
import { LeftOutList } from './LeftOutList';
import { folderPicker, saveToFolder } from './saveToFolder';
import { canStream, streamZip } from './streamZip';
import { assetFolders, createZip, folderName, type Progress } from './zip';

const words = selectionTexts;

interface DownloadDialogProps {
  cards: AssetCard[];
  /** Only the files in a folder of the only asset; they are downloaded at once if none is left out. */
  folder?: string;
  onClose: () => void;
}

/** The files to download, and how far a download of them is. */
function useDownload({ cards, folder, onClose }: DownloadDialogProps) {
  const pickFolder = folderPicker();
  const limits = pickFolder || canStream() ? STREAMED : IN_MEMORY;
  const selectedFiles = useQuery(selectedFilesQuery(cards, folder, limits.files));
  const [done, setDone] = useState<number | null>(null);
  const [failed, setFailed] = useState<LeftOut[]>([]);
  /** What a ZIP file that ended early does not have. */
  const [missing, setMissing] = useState<Target[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  // Closing the dialog stops the download.
  const [stop] = useState(() => new AbortController());
  useEffect(() => () => stop.abort(), [stop]);
  const plan = selectedFiles.data && downloadPlan(selectedFiles.data, limits);
  const targets = missing.length ? missing : (plan?.targets ?? []);
  const files = targets.length;
  const ended = failed.length > 0 || missing.length > 0 || failure !== null;
  const start = async (save: Save) => {
    setFailure(null);
    setFailed([]);
    setDone(0);
    try {
      const result = await save(targets, { signal: stop.signal, at: setDone }, folder);
      setDone(null);
      setFailed(result.failed);
      setMissing(result.missing);
      const saved = files - Math.max(result.failed.length, result.missing.length);
      if (saved) toast(words.downloaded(saved));
      if (saved === files) onClose();
    } catch (error) {
      if (stop.signal.aborted) return;
      setDone(null);
      setFailure(error);
    }
  };
  const startZip = () => start(toZip(zipName(targets, cards.length, folder)));
  const startFolder = async (pick: NonNullable<typeof pickFolder>) => {
    let root;
    try {
      root = await pick({ mode: 'readwrite' });
    } catch (error) {
      // The user has closed the window without a choice.
      if (!(error instanceof DOMException && error.name === 'AbortError')) setFailure(error);
      return;
    }
    await start(async (...args) => ({ ...(await saveToFolder(root, ...args)), missing: [] }));
  };
  const isStarted = useRef(false);
  useEffect(() => {
    if (folder === undefined || !files || plan?.leftOut.length || isStarted.current) return;
    isStarted.current = true;
    // What takes long is better saved where it can be continued.
    if (!pickFolder || !isLarge(targets)) queueMicrotask(() => void startZip());
  });
  const mayTry =
    !ended || missing.length > 0 || isRetryable(failure) || failed.some(({ again }) => again);
  return {
    pickFolder,
    limits,
    selectedFiles,
    plan,
    targets,
    done,
    failed,
    missing,
    failure,
    ended,
    mayTry,
    startZip,
    startFolder,
  };
}

/** Saves the files of assets, or of a folder, and names what it leaves out. */
export function DownloadDialog(props: DownloadDialogProps) {
  const { cards, folder, onClose } = props;
  const { pickFolder, limits, selectedFiles, plan, targets, ...state } = useDownload(props);
  const { done, failed, missing, failure, ended, mayTry, startZip, startFolder } = state;
  const files = targets.length;
  return (
    <Dialog title={dialogTitle(cards.length, folder)} onClose={onClose}>
      {selectedFiles.isPending && <p role="status">{words.listing}</p>}
      <InlineError query={selectedFiles} />
      {plan && (
        <p role="status">
          {done === null ? words.files(files, sizeOf(targets)) : words.progress(done + 1, files)}
        </p>
      )}
      {plan && <LeftOutList items={plan.leftOut} />}
      {failure !== null && (
        <p className="failure" role="alert">
          {errorText(failure)}
        </p>
      )}
      <div role="alert">
        {missing.length > failed.length && (
          <p className="failure">{words.broken(missing.length)}</p>
        )}
        <LeftOutList title={words.notDownloaded(failed.length)} items={failed} />
      </div>
      <p className="help">
        {limits === STREAMED ? words.streamHelp : words.downloadHelp}{' '}
        {pickFolder && words.folderHelp}
      </p>
      <div className="acts">
        {mayTry && (
          <button
            type="button"
            className={pickFolder && isLarge(targets) ? undefined : 'primary'}
            disabled={!files || done !== null}
            onClick={() => void startZip()}
          >
            {missing.length ? words.restAsZip : ended ? texts.tryAgain : texts.download}
          </button>
        )}
        {mayTry && pickFolder && (
          <button
            type="button"
            className={isLarge(targets) ? 'primary' : undefined}
            disabled={!files || done !== null}
            onClick={() => void startFolder(pickFolder)}
          >
            {words.intoFolder}
          </button>
        )}
        <CopyCommandButton command={downloadCommand(cards, folder)} />
        <CloseButton text={done !== null ? words.stop : ended ? texts.close : texts.cancel} />
      </div>
    </Dialog>
  );
}

type Save = (
  targets: readonly Target[],
  progress: Progress,
  folder?: string,
) => Promise<{ failed: LeftOut[]; missing: Target[] }>;

/** What takes so long that it may be interrupted, and would fill the memory of a small computer. */
const LARGE = 100_000_000;
const sizeOf = (targets: readonly Target[]): number =>
  targets.reduce((sum, target) => sum + target.size, 0);
const isLarge = (targets: readonly Target[]): boolean =>
  targets.length > IN_MEMORY.files || sizeOf(targets) > LARGE;

const toZip =
  (name: string): Save =>
  async (targets, progress, folder) => {
    if (isLarge(targets) && canStream()) return streamZip(targets, `${name}.zip`, progress, folder);
    const { files, bytes } = IN_MEMORY;
    if (targets.length > files || sizeOf(targets) > bytes) throw new Error(words.notStreamed);
    const { zip, failed } = await createZip(targets, progress, folder);
    if (zip) saveFile(zip, `${name}.zip`);
    return { failed, missing: [] };
  };

const dialogTitle = (assets: number, folder: string | undefined): string =>
  folder === undefined
    ? words.downloadTitle(assets)
    : words.downloadFolder(visibleName(folderName(folder)));

function zipName(targets: readonly Target[], assets: number, folder: string | undefined): string {
  if (folder !== undefined) return folderName(folder) || words.zipName;
  const [name = ''] = assets === 1 ? assetFolders(targets).values() : [];
  return name || words.zipName;
}
