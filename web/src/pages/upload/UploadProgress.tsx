import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useStore } from '../../api/createStore';
import { texts } from '../../texts';
import { uploadTexts } from '../../texts/upload';
import { UserText } from '../../ui/UserText';
import { formatBytes } from '../../texts/formats';
import { useOnline } from '../../ui/useOnline';
import type { Place } from '../../api/downloads';
import type { Item, UploadRun } from './uploadRun';

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
  const { items, running, paused, busyUntil } = useStore(run.progress);
  const isOnline = useOnline();
  const seconds = useSecondsUntil(busyUntil);
  useRefreshAfter(running, place);
  const left = items.filter((item) => item.state !== 'skipped');
  const all = left.reduce((sum, item) => sum + item.file.size, 0);
  const sent = left.reduce((sum, item) => sum + item.sent, 0);
  const failed = items.filter((item) => item.state === 'failed');
  const again = failed.filter((item) => !item.final).length;
  const waiting = items.filter((item) => item.state === 'waiting');
  const unfinished = again + waiting.length;
  const progress = uploadTexts.progress(formatBytes(sent), formatBytes(all));
  const cancel = () => {
    const open = items.filter((item) => !/done|skipped|failed/.test(item.state)).length;
    if (confirm(uploadTexts.cancelConfirm(open))) run.cancel();
  };
  const status = () => {
    if (running && paused) return uploadTexts.paused(progress);
    if (running && !isOnline) return uploadTexts.offline(progress);
    if (running) return seconds > 0 ? uploadTexts.busy(progress) : progress;
    if (failed.length) return uploadTexts.partly(failed.length);
    return waiting.length ? uploadTexts.stopped : uploadTexts.done;
  };
  return (
    <section className="stack" aria-label={uploadTexts.title}>
      <progress max={1} value={all ? sent / all : 1} aria-label={uploadTexts.title} />
      <p role="status">
        {status()}
        {/* Read aloud once, not each second. */}
        {running && !paused && isOnline && seconds > 0 && (
          <span aria-hidden="true">{uploadTexts.inSeconds(seconds)}</span>
        )}
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

/** Requests again what an upload changes, once it has ended. */
function useRefreshAfter(running: boolean, place: Place): void {
  const cache = useQueryClient();
  useEffect(() => {
    if (running) return;
    void cache.invalidateQueries({ queryKey: ['search'] });
    void cache.invalidateQueries({ queryKey: ['files', place.databaseId, place.assetId] });
  }, [running, cache, place]);
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

/** How many seconds are left until a time, counted down; 0 after it, or without one. */
function useSecondsUntil(time: number | null): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (time === null) return;
    const tick = () => setNow(Date.now());
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [time]);
  return time === null ? 0 : Math.max(0, Math.ceil((time - now) / 1000));
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
