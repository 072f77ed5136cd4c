import { Link } from '@tanstack/react-router';
import { texts } from '../../texts';
import { uploadTexts } from '../../texts/upload';
import { UserText } from '../../ui/UserText';
import { formatBytes } from '../../texts/formats';
import type { Place } from '../../api/downloads';
import type { Item, UploadRun } from './uploadRun';
import { useUploadStatus } from './useUploadStatus';

const SHOWN = 200;

/** An upload while it runs, and how it ended. */
export function UploadProgress({
  run,
  place,
  onMore,
}: {
  run: UploadRun;
  place: Place;
  onMore: () => void;
}) {
  const { items, running, paused, fraction, failed, again, unfinished, words, seconds } =
    useUploadStatus({ run, place });
  const cancel = () => {
    const open = items.filter((item) => !/done|skipped|failed/.test(item.state)).length;
    if (confirm(uploadTexts.cancelConfirm(open))) run.cancel();
  };
  return (
    <section className="stack" aria-label={uploadTexts.title}>
      <progress max={1} value={fraction} aria-label={uploadTexts.title} />
      <p role="status">
        {words}
        {/* Read aloud once, not each second. */}
        {seconds > 0 && <span aria-hidden="true">{uploadTexts.inSeconds(seconds)}</span>}
      </p>
      <div className="acts">
        {running ? (
          <>
            <button type="button" onClick={() => (paused ? run.resume() : run.pause())}>
              {paused ? uploadTexts.resume : uploadTexts.pause}
            </button>
            <button type="button" onClick={cancel}>
              {uploadTexts.cancel}
            </button>
          </>
        ) : (
          <>
            {unfinished > 0 && (
              <button type="button" className="primary" onClick={() => void run.start()}>
                {again ? uploadTexts.retry : uploadTexts.resume}
              </button>
            )}
            <AssetLink place={place} isPrimary={unfinished === 0} />
            <button type="button" onClick={onMore}>
              {uploadTexts.another}
            </button>
          </>
        )}
      </div>
      <ul className="files" tabIndex={0}>
        {[...failed, ...items.filter((item) => item.state !== 'failed')]
          .slice(0, SHOWN)
          .map((item) => (
            <FileRow key={item.path} item={item} />
          ))}
      </ul>
      {items.length > SHOWN && <p className="faint">{texts.find.more(items.length - SHOWN)}</p>}
    </section>
  );
}

function AssetLink({ place, isPrimary }: { place: Place; isPrimary: boolean }) {
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={place}
      search={{}}
      className={isPrimary ? 'button primary' : 'button'}
      preload={false}
    >
      {uploadTexts.open}
    </Link>
  );
}

function FileRow({ item }: { item: Item }) {
  const { state, error, sent, file } = item;
  return (
    <li>
      <UserText text={item.path.slice(1)} title={item.path} line />
      <span className={state === 'failed' ? 'failure' : 'faint'}>
        {state === 'sending'
          ? uploadTexts.progress(formatBytes(sent), formatBytes(file.size))
          : state === 'skipped'
            ? uploadTexts.same
            : uploadTexts.states[state]}
        {error && `: ${error}`}
      </span>
    </li>
  );
}
