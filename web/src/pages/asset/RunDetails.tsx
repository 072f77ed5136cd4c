import { useQuery } from '@tanstack/react-query';
import type { Place } from '../../api/downloads';
import { texts } from '../../texts';
import { formatPeriod, visibleName } from '../../texts/formats';
import { runsTexts } from '../../texts/runs';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { InlineError } from '../../ui/InlineError';
import { UserText } from '../../ui/UserText';
import { outputName, runQuery, workflowName, type Run, type RunDetail } from './runQueries';

const words = runsTexts;

/** The steps of a run with their times, its outputs and its error. */
export function RunDetails(props: { place: Place; run: Run; onClose: () => void }) {
  const { place, run, onClose } = props;
  const query = useQuery(runQuery(place, run.executionId));
  const detail = query.data;
  return (
    <Dialog title={words.ofRun(visibleName(workflowName(run.workflowId)))} onClose={onClose}>
      {query.isPending && <p role="status">{texts.loading}</p>}
      <InlineError query={query} />
      {detail && (
        <>
          <p role="status">{words.states[detail.executionStatus]}</p>
          {detail.error && (
            <p className="failure">
              <UserText text={detail.error.message || detail.error.code} />
            </p>
          )}
          <Steps detail={detail} />
          <Outputs outputs={detail.outputs} />
          {/^https?:/.test(detail.logLink) && (
            <p>
              <a href={detail.logLink} target="_blank" rel="noreferrer">
                {words.log}
              </a>
            </p>
          )}
        </>
      )}
      <div className="acts">
        <CloseButton text={texts.close} first />
      </div>
    </Dialog>
  );
}

function Steps({ detail }: { detail: RunDetail }) {
  return (
    <>
      <h3>{words.steps}</h3>
      <ul className="names">
        {detail.steps.map(({ number, pipelineId, state, startedAt, stoppedAt }) => (
          <li key={number}>
            <UserText text={words.step(number, workflowName(pipelineId))} />{' '}
            <span className="tag">{state ? words.states[state] : words.waits}</span>{' '}
            <span className="faint">{startedAt && formatPeriod(startedAt, stoppedAt ?? '')}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Outputs({ outputs }: { outputs: RunDetail['outputs'] }) {
  if (!outputs) return null;
  const refused = (outputs.refused ?? []).map(({ path, reason }) => `${path}: ${reason}`);
  const lists: [string, readonly string[], number][] = [
    [words.files(outputs.fileCount ?? 0), outputs.files ?? [], outputs.fileCount ?? 0],
    [words.previews(outputs.previewCount ?? 0), outputs.previews ?? [], outputs.previewCount ?? 0],
    [
      words.metadata(outputs.metadataCount ?? 0),
      outputs.metadata ?? [],
      outputs.metadataCount ?? 0,
    ],
    [words.refused(outputs.refusedCount ?? 0), refused, outputs.refusedCount ?? 0],
  ];
  const filled = lists.filter(([, , count]) => count > 0);
  return (
    <>
      <h3>{words.outputs}</h3>
      {!filled.length && <p className="faint">{words.noOutputs}</p>}
      {filled.map(([title, names, count]) => (
        <div key={title}>
          <p>{title}</p>
          <ul className="names">
            {names.map((name) => (
              <li key={name}>
                <UserText text={outputName(name)} />
              </li>
            ))}
            {count > names.length && (
              <li className="faint">{words.moreOutputs(count - names.length)}</li>
            )}
          </ul>
        </div>
      ))}
    </>
  );
}
