import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';
import { texts } from '../../texts';
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
  const progress = texts.upload.progress(size(sent), size(all));
  const cancel = () => {
    const open = items.filter((each) => !/done|skipped|failed/.test(each.state)).length;
    if (confirm(texts.upload.cancelConfirm(open))) run.cancel();
  };
  return (
    <section className="stack" aria-label={texts.upload.title}>
      <progress max={1} value={all ? sent / all : 1} aria-label={texts.upload.title} />
      <p role="status">
        {running
          ? paused
            ? texts.upload.paused(progress)
            : isOnline
              ? progress
              : texts.upload.offline(progress)
          : failed.length
            ? texts.upload.partly(failed.length)
            : waiting.length
              ? texts.upload.stopped
              : texts.upload.done}
      </p>
      <div className="acts">
        {running ? (
          <>
            <button type="button" onClick={() => (paused ? run.resume() : run.pause())}>
              {paused ? texts.upload.resume : texts.upload.pause}
            </button>
            <button type="button" onClick={cancel}>
              {texts.upload.cancel}
            </button>
          </>
        ) : (
          <>
            {again + waiting.length > 0 && (
              <button type="button" className="primary" onClick={() => void run.start()}>
                {again ? texts.upload.retry : texts.upload.resume}
              </button>
            )}
            <Link
              to="/databases/$databaseId/assets/$assetId"
              params={place}
              search={{}}
              className={again + waiting.length > 0 ? 'button' : 'button primary'}
              preload={false}
            >
              {texts.upload.open}
            </Link>
            <button type="button" onClick={onMore}>
              {texts.upload.another}
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
          ? texts.upload.progress(size(sent), size(file.size))
          : state === 'skipped'
            ? texts.upload.same
            : texts.upload.states[state]}
        {error && `: ${error}`}
      </span>
    </li>
  );
}
