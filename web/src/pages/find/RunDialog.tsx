import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { selectionTexts } from '../../texts/selection';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { RetryButton } from '../../ui/ErrorNotice';
import { toast } from '../../ui/Toasts';
import { UserText } from '../../ui/UserText';
import { useIsOpen } from '../../ui/useIsOpen';
import type { Card } from '../../api/hits';
import { selectedFilesQuery, runPlan, type Target, type Workflow } from './selectedFiles';
import { LeftOutList } from './LeftOutList';
import { startRuns, workflowsQuery, type Result } from './runs';
import { compareNames } from '../../texts/formats';

const words = selectionTexts;
const SHOWN = 3;

/** Runs a workflow on the selected assets or their files, and names what has started. */
export function RunDialog({ cards, onClose }: { cards: Card[]; onClose: () => void }) {
  const databases = [...new Set(cards.map((card) => card.databaseId))].sort(compareNames);
  const workflows = useQuery(workflowsQuery(databases));
  const selectedFiles = useQuery(selectedFilesQuery(cards));
  const [workflowKey, setChosen] = useState('');
  const [whole, setWhole] = useState(false);
  const [done, setDone] = useState<number | null>(null);
  const [result, setResult] = useState<Result | null>(null);
  const isOpen = useIsOpen();
  const workflow = workflows.data?.find((workflow) => keyOf(workflow) === workflowKey);
  const plan = workflow && selectedFiles.data && runPlan(selectedFiles.data, workflow, whole);
  // After a part was refused, another try is about that part only.
  const targets = result?.remaining ?? plan?.targets ?? [];
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    if (!workflow || !targets.length) return;
    setDone(0);
    const attempt = await startRuns(workflow, targets, setDone);
    setDone(null);
    setResult({ ...attempt, started: [...(result?.started ?? []), ...attempt.started] });
    // Closing the dialog does not stop what it has started.
    if (!isOpen.current) toast(summarize(attempt));
  };
  const failure = workflows.error ?? selectedFiles.error;
  const isChosen = workflow !== undefined && !result?.started.length;
  return (
    <Dialog title={words.runTitle(cards.length)} onClose={onClose}>
      <form className="stack" onSubmit={(event) => void submit(event)}>
        {failure && (
          <p className="failure" role="alert">
            {errorText(failure)}{' '}
            <RetryButton
              error={failure}
              onClick={() => void Promise.all([workflows.refetch(), selectedFiles.refetch()])}
            />
          </p>
        )}
        <WorkflowSelect
          workflows={workflows.data}
          workflowKey={workflowKey}
          whole={whole}
          disabled={done !== null || Boolean(result?.started.length)}
          onChange={(key, of) => {
            setChosen(key);
            setWhole(of);
            setResult(null);
          }}
        />
        <p role="status">
          {done !== null && words.progress(done + 1, targets.length)}
          {done === null && isChosen && !plan && !failure && words.listing}
          {done === null && isChosen && plan && describeTargets(targets, workflow, whole)}
        </p>
        {plan && !result && <LeftOutList items={plan.leftOut} />}
        {result && <Outcome result={result} />}
        <div className="acts">
          {(!result || result.remaining.length > 0) && (
            <button
              type="submit"
              className="primary"
              disabled={!targets.length || !plan || done !== null}
            >
              {result ? texts.tryAgain : words.start}
            </button>
          )}
          <CloseButton text={result ? texts.close : texts.cancel} />
        </div>
      </form>
    </Dialog>
  );
}

function summarize({ started, failed }: Result): string {
  const [first] = failed;
  if (!first) return words.startedNow(started.length);
  const names = failed.map((card) => card.name);
  return words.failed(started.length, names, first.reason);
}

const keyOf = ({ databaseId, workflowId }: Workflow): string => `${databaseId}:${workflowId}`;

function describeTargets(targets: readonly Target[], workflow: Workflow, whole: boolean): string {
  const assets = new Set(targets.map(({ card }) => card.id)).size;
  if (whole) return words.onAssets(assets);
  const types = workflow.extensions.length > 0;
  return targets.length ? words.onFiles(targets.length, assets, types) : words.noFiles(types);
}

function WorkflowSelect(props: {
  workflows: Workflow[] | undefined;
  workflowKey: string;
  whole: boolean;
  disabled: boolean;
  onChange: (workflowKey: string, whole: boolean) => void;
}) {
  const { workflows, workflowKey, whole, onChange } = props;
  const id = useId();
  const workflow = workflows?.find((workflow) => keyOf(workflow) === workflowKey);
  if (workflows?.length === 0) return <p>{words.noWorkflows}</p>;
  return (
    <>
      <label htmlFor={id}>{words.workflow}</label>
      <select
        id={id}
        value={workflowKey}
        disabled={props.disabled}
        onChange={(event) => onChange(event.target.value, whole)}
      >
        <option value="">{words.chooseWorkflow}</option>
        {workflows?.map((workflow) => (
          <option key={keyOf(workflow)} value={keyOf(workflow)}>
            {words.workflowName(workflow.workflowId, workflow.databaseId)}
          </option>
        ))}
      </select>
      {workflow && <p className="help">{workflow.description}</p>}
      <div className="acts" role="radiogroup" aria-label={words.runOn}>
        {[false, true].map((choice) => (
          <label key={String(choice)} className="check">
            <input
              type="radio"
              name={`${id}-on`}
              checked={whole === choice}
              disabled={props.disabled}
              onChange={() => onChange(workflowKey, choice)}
            />
            {choice ? words.wholeAssets : words.theirFiles}
          </label>
        ))}
      </div>
    </>
  );
}

function Outcome({ result }: { result: Result }) {
  const { started, failed, unclear } = result;
  const assets = [...new Map(started.map(({ card }) => [card.id, card])).values()];
  return (
    <>
      {started.length > 0 && <p role="status">{words.started(started.length)}</p>}
      {assets.slice(0, SHOWN).map((card) => (
        <Link
          key={card.id}
          to="/databases/$databaseId/assets/$assetId"
          params={{ databaseId: card.databaseId, assetId: card.assetId }}
          search={{ show: 'runs' }}
          preload={false}
        >
          <UserText text={words.watch(card.name)} />
        </Link>
      ))}
      {assets.length > SHOWN && <p>{words.watchOthers(assets.length - SHOWN)}</p>}
      {assets.length > 0 && <p className="help">{words.watchHelp}</p>}
      <div role="alert">
        <LeftOutList title={words.notStarted(failed.length, unclear)} items={failed} />
      </div>
    </>
  );
}
