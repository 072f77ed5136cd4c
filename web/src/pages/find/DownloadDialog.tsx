import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { mayPass, sentence } from '../../api/errors';
import { texts } from '../../texts';
import { selectionTexts } from '../../texts/selection';
import { Cancel, Dialog } from '../../ui/Dialog';
import { Failed } from '../../ui/Failed';
import { say } from '../../ui/Toasts';
import type { Card } from './hits';
import { downloadPlan, listingOf, type LeftOut } from './listing';
import { LeftOutList } from './LeftOutList';
import { foldersOf, save, zipOf } from './zip';

const words = selectionTexts;

/** Packs the files of the selected assets into one file, and names what it leaves out. */
export function DownloadDialog({ cards, onClose }: { cards: Card[]; onClose: () => void }) {
  const listed = useQuery(listingOf(cards));
  const [done, setDone] = useState<number | null>(null);
  const [failed, setFailed] = useState<LeftOut[]>([]);
  const [failure, setFailure] = useState<unknown>(null);
  // Closing the dialog stops the download.
  const [stop] = useState(() => new AbortController());
  useEffect(() => () => stop.abort(), [stop]);
  const plan = listed.data && downloadPlan(listed.data);
  const files = plan?.targets.length ?? 0;
  const ended = failed.length > 0 || failure !== null;
  const start = async () => {
    if (!plan) return;
    setFailure(null);
    setFailed([]);
    setDone(0);
    try {
      const found = await zipOf(plan.targets, { signal: stop.signal, at: setDone });
      setDone(null);
      setFailed(found.failed);
      if (!found.zip) return;
      const [folder = ''] = cards.length === 1 ? foldersOf(plan.targets).values() : [];
      save(found.zip, `${folder || words.zipName}.zip`);
      say(words.downloaded(files - found.failed.length));
      if (!found.failed.length) onClose();
    } catch (error) {
      if (stop.signal.aborted) return;
      setDone(null);
      setFailure(error);
    }
  };
  return (
    <Dialog title={words.downloadTitle(cards.length)} onClose={onClose}>
      {listed.isPending && <p role="status">{words.listing}</p>}
      <Failed found={listed} />
      {plan && (
        <p role="status">
          {done === null
            ? words.files(
                files,
                plan.targets.reduce((sum, each) => sum + each.size, 0),
              )
            : words.progress(done + 1, files)}
        </p>
      )}
      {plan && <LeftOutList items={plan.leftOut} />}
      {failure !== null && (
        <p className="failure" role="alert">
          {sentence(failure)}
        </p>
      )}
      <div role="alert">
        <LeftOutList title={words.notDownloaded(failed.length)} items={failed} />
      </div>
      <p className="help">{words.downloadHelp}</p>
      <div className="acts">
        {(!ended || mayPass(failure) || failed.some(({ again }) => again)) && (
          <button
            type="button"
            className="primary"
            disabled={!files || done !== null}
            onClick={() => void start()}
          >
            {ended ? texts.tryAgain : texts.download}
          </button>
        )}
        <Cancel text={done !== null ? words.stop : ended ? texts.close : texts.cancel} />
      </div>
    </Dialog>
  );
}
