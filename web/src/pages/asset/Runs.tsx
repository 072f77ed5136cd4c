import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../api/errors';
import type { Place } from '../../api/downloads';
import { assetPath } from '../../api/hits';
import { texts } from '../../texts';
import { formatPeriod, visibleName } from '../../texts/formats';
import { runsTexts } from '../../texts/runs';
import { MoreButton } from '../../ui/MoreButton';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { toast } from '../../ui/Toasts';
import { RunDetails } from './RunDetails';
import { isActive, repeatRun, runsQuery, stopRun, workflowName, type Run } from './runQueries';

const words = runsTexts;

/** The runs of workflows on an asset, and what can be done with them. */
export function Runs({ place, mayRun }: { place: Place; mayRun: boolean }) {
  const query = useInfiniteQuery(runsQuery(place));
  const cache = useQueryClient();
  const [shown, setShown] = useState<Run | null>(null);
  const [state, setState] = useState({ busy: false, failure: '' });
  const runs = query.data?.pages.flatMap((page) => page.Items) ?? [];
  const act = async (change: typeof stopRun, { executionId }: Run, done: string) => {
    setState({ busy: true, failure: '' });
    let failure = '';
    try {
      await change(place, executionId);
      toast(done);
    } catch (error) {
      failure = errorText(error);
    }
    // The buttons of the state before stay disabled until the list is read again.
    await cache.invalidateQueries({ queryKey: runsQuery(place).queryKey });
    setState({ busy: false, failure });
  };
  return (
    <div className="stack">
      {query.isPending && <p className="faint">{texts.loading}</p>}
      <InlineError query={query} />
      {query.isSuccess && !runs.length && <p className="faint">{words.none}</p>}
      <p className="failure" role="alert">
        {state.failure}
      </p>
      <ol className="timeline">
        {runs.map((run) => (
          <li key={run.executionId}>
            <RunLine run={run} place={place} />
            <div className="acts">
              <RunButton
                run={run}
                place={place}
                name={words.details}
                onClick={() => setShown(run)}
              />
              {mayRun && isActive(run) && (
                <RunButton
                  run={run}
                  place={place}
                  name={words.stop}
                  disabled={state.busy}
                  onClick={() => void act(stopRun, run, words.stopped)}
                />
              )}
              {mayRun && !isActive(run) && (
                <RunButton
                  run={run}
                  place={place}
                  name={words.again}
                  disabled={state.busy}
                  onClick={() => void act(repeatRun, run, words.startedAgain)}
                />
              )}
            </div>
          </li>
        ))}
      </ol>
      <MoreButton query={query} text={words.more} />
      {shown && <RunDetails place={place} run={shown} onClose={() => setShown(null)} />}
    </div>
  );
}

const fileOf = ({ inputAssetFileKey: key }: Run, { assetId }: Place): string =>
  key ? visibleName(assetPath(key, assetId).slice(1)) : words.wholeAsset;

function RunLine({ run, place }: { run: Run; place: Place }) {
  return (
    <>
      <strong>
        <UserText text={workflowName(run.workflowId)} />
      </strong>{' '}
      <span className="tag">{words.states[run.executionStatus]}</span>
      <p>
        <UserText text={fileOf(run, place)} />
      </p>
      <p className="faint">
        {words.triggers[run.trigger](visibleName(run.startedBy))} ·{' '}
        {formatPeriod(run.startedAt || run.createdAt, run.stoppedAt)}
      </p>
      {run.error && <p className="failure">{visibleName(run.error.message || run.error.code)}</p>}
    </>
  );
}

/** An act whose name says for screen readers which run it is about. */
function RunButton(props: {
  run: Run;
  place: Place;
  name: string;
  disabled?: boolean;
  onClick: () => void;
}) {
  const { run, place, name } = props;
  return (
    <button
      type="button"
      className="small"
      aria-label={`${name}: ${words.run(visibleName(workflowName(run.workflowId)), fileOf(run, place))}`}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      {name}
    </button>
  );
}
