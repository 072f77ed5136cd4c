import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { texts } from '../../texts';
import { uploadTexts } from '../../texts/upload';
import { Name } from '../../ui/Name';
import { size } from '../../ui/formats';
import { useOnline } from '../../ui/useOnline';
import type { Place } from '../../viewer/sources';
import type { Item, Run } from './run';

const SHOWN = 200;

/** An upload while it runs, and how it ended. */
export function Running({ run, place, onMore }: { run: Run; place: Place; onMore: () => void }) {
  const { items, running, paused } = useSyncExternalStore(run.subscribe, run.current);
  const isOnline = useOnline();
  const cache = useQueryClient();
  useEffect(() => {
    if (running) return;
    void cache.invalidateQueries({ queryKey: ['search'] });
    void cache.invalidateQueries({ queryKey: ['files', place.databaseId, place.assetId] });
  }, [running, cache, place]);
  const left = items.filter((each) => each.state !== 'skipped');
  const all = left.reduce((sum, each) => sum + each.file.size, 0);
  const sent = left.reduce((sum, each) => sum + each.sent, 0);
  const failed = items.filter((each) => each.state === 'failed');
  const again = failed.filter((each) => !each.final).length;
  const waiting = items.filter((each) => each.state === 'waiting');
  const progress = uploadTexts.progress(size(sent), size(all));
  const cancel = () => {
    const open = items.filter((each) => !/done|skipped|failed/.test(each.state)).length;
    if (confirm(uploadTexts.cancelConfirm(open))) run.cancel();
  };
  return (
    <section className="stack" aria-label={uploadTexts.title}>
      <progress max={1} value={all ? sent / all : 1} aria-label={uploadTexts.title} />
      <p role="status">
        {running
          ? paused
            ? uploadTexts.paused(progress)
            : isOnline
              ? progress
              : uploadTexts.offline(progress)
          : failed.length
            ? uploadTexts.partly(failed.length)
            : waiting.length
              ? uploadTexts.stopped
              : uploadTexts.done}
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
            {again + waiting.length > 0 && (
              <button type="button" className="primary" onClick={() => void run.start()}>
                {again ? uploadTexts.retry : uploadTexts.resume}
              </button>
            )}
            <Link
              to="/databases/$databaseId/assets/$assetId"
              params={place}
              search={{}}
              className={again + waiting.length > 0 ? 'button' : 'button primary'}
              preload={false}
            >
              {uploadTexts.open}
            </Link>
            <button type="button" onClick={onMore}>
              {uploadTexts.another}
            </button>
          </>
        )}
      </div>
      <ul className="files" tabIndex={0}>
        {[...failed, ...items.filter((each) => each.state !== 'failed')]
          .slice(0, SHOWN)
          .map((item) => (
            <FileRow key={item.path} item={item} />
          ))}
      </ul>
      {items.length > SHOWN && <p className="faint">{texts.find.more(items.length - SHOWN)}</p>}
    </section>
  );
}

function FileRow({ item }: { item: Item }) {
  const { state, error, sent, file } = item;
  return (
    <li>
      <Name text={item.path.slice(1)} title={item.path} line />
      <span className={state === 'failed' ? 'failure' : 'faint'}>
        {state === 'sending'
          ? uploadTexts.progress(size(sent), size(file.size))
          : state === 'skipped'
            ? uploadTexts.same
            : uploadTexts.states[state]}
        {error && `: ${error}`}
      </span>
    </li>
  );
}
