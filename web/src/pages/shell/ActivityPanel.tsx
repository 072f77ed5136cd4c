import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useRouterState } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { activity, removeRun, type StartedRun } from '../../api/activity';
import { useStore } from '../../api/createStore';
import type { Place } from '../../api/downloads';
import { errorText } from '../../api/errors';
import { usePermissions } from '../../api/queries';
import type { Job } from '../../api/jobs';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { runsTexts } from '../../texts/runs';
import { UserText } from '../../ui/UserText';
import { toast } from '../../ui/Toasts';
import { useMediaQuery } from '../../ui/useMediaQuery';
import { uploadTexts } from '../../texts/upload';
import { isActive, runQuery, stopRun, workflowName } from '../asset/runQueries';
import { JobButton, JobProgress } from '../jobs/JobsPage';
import { cancelJob, jobName } from '../jobs/queries';
import { currentUpload, removeUpload, type CurrentUpload } from '../upload/currentUpload';
import { useUploadStatus } from '../upload/useUploadStatus';
import './activity.css';

const words = runsTexts;
/** Runs that are shown, and requested until they end, at once. */
const SHOWN = 5;

/** The jobs and runs that the user waits for, on whatever page they are. */
export function ActivityPanel() {
  const { jobs, runs } = useStore(activity);
  const isWide = useMediaQuery('(min-width: 56rem)');
  const path = useRouterState({ select: (state) => state.location.pathname });
  const shown = path === '/jobs' ? [] : [...jobs.values()];
  const current = useStore(currentUpload);
  const upload = path === '/upload' ? null : current;
  const number = shown.length + runs.length + (upload ? 1 : 0);
  if (!number) return null;
  return (
    <details className="activity" open={isWide}>
      <summary>{words.running(number)}</summary>
      <ul>
        {upload && <UploadItem upload={upload} />}
        {shown.map((job) => (
          <JobItem key={job.jobId} job={job} />
        ))}
        {runs.slice(0, SHOWN).map((run) => (
          <RunItem key={run.executionId} run={run} />
        ))}
      </ul>
      {runs.length > SHOWN && <p className="faint">{words.others(runs.length - SHOWN)}</p>}
    </details>
  );
}

function UploadItem({ upload }: { upload: CurrentUpload }) {
  const { run, place } = upload;
  const { running, paused, fraction, words: status } = useUploadStatus(upload);
  const { databaseId: database, assetId: asset } = place;
  useEffect(() => {
    if (running || !run.isComplete()) return;
    toast(uploadTexts.done);
    removeUpload();
  }, [running, run]);
  return (
    <li>
      <strong>{uploadTexts.title}</strong>
      <progress max={1} value={fraction} aria-label={uploadTexts.title} />
      <p>{status}</p>
      <div className="acts">
        <Link to="/upload" search={{ database, asset }} className="button small" preload={false}>
          {uploadTexts.show}
        </Link>
        {running && (
          <button
            type="button"
            className="small"
            onClick={() => (paused ? run.resume() : run.pause())}
          >
            {paused ? uploadTexts.resume : uploadTexts.pause}
          </button>
        )}
        {!running && (
          <button
            type="button"
            className="small"
            aria-label={words.hide(uploadTexts.title)}
            onClick={removeUpload}
          >
            ×
          </button>
        )}
      </div>
    </li>
  );
}

function JobItem({ job }: { job: Job }) {
  const { busy, act } = useAct();
  const { databaseId, assetId } = job;
  return (
    <li>
      <strong>{jobName(job)}</strong>
      <JobProgress job={job} />
      <div className="acts">
        <span className="faint">{words.progress(job.itemsDone, job.itemsTotal ?? null)}</span>
        {databaseId && assetId && (
          <AssetLink place={{ databaseId, assetId }}>{words.openAsset}</AssetLink>
        )}
        {job.cancellable && (
          <JobButton
            job={job}
            name={words.stop}
            disabled={busy}
            onClick={() => act(() => cancelJob(job.jobId))}
          />
        )}
      </div>
    </li>
  );
}

function RunItem({ run: { place, executionId } }: { run: StartedRun }) {
  const cache = useQueryClient();
  const query = useQuery(runQuery(place, executionId));
  const { busy, act } = useAct();
  const may = usePermissions();
  const state = query.data?.executionStatus ?? 'NEW';
  const name = visibleName(workflowName(query.data?.workflowId ?? ''));
  useEffect(() => {
    if (state === 'NEW' || state === 'RUNNING') return;
    const { databaseId, assetId } = place;
    void cache.invalidateQueries({ queryKey: ['files', databaseId, assetId] });
    void cache.invalidateQueries({ queryKey: ['search'] });
    if (state !== 'SUCCEEDED') return;
    toast(words.ended(name, words.states[state]));
    removeRun(executionId);
  }, [state, name, place, executionId, cache]);
  const active = query.data ? isActive(query.data) : !query.isError;
  const error = query.data?.error;
  return (
    <li>
      <strong>
        <UserText text={name || texts.loading} />
      </strong>{' '}
      <span className="tag">{words.states[state]}</span>
      {active && <progress aria-label={name || texts.loading} />}
      {(error || query.isError) && (
        <p className="failure">
          {error ? visibleName(error.message || error.code) : errorText(query.error)}
        </p>
      )}
      <div className="acts">
        <AssetLink place={place}>{words.openAsset}</AssetLink>
        {active && may.run && (
          <button
            type="button"
            className="small"
            aria-label={`${words.stop}: ${name}`}
            disabled={busy}
            onClick={() =>
              act(async () => {
                await stopRun(place, executionId);
                await query.refetch();
              })
            }
          >
            {words.stop}
          </button>
        )}
        {!active && (
          <button
            type="button"
            className="small"
            aria-label={words.hide(name)}
            onClick={() => removeRun(executionId)}
          >
            ×
          </button>
        )}
      </div>
    </li>
  );
}

/** Does something once at a time; a failure is said. */
function useAct() {
  const [busy, setBusy] = useState(false);
  const act = (change: () => Promise<void>): void => {
    setBusy(true);
    change()
      .catch((error: unknown) => toast(errorText(error)))
      .finally(() => setBusy(false));
  };
  return { busy, act };
}

function AssetLink({ place, children }: { place: Place; children: ReactNode }) {
  return (
    <Link
      to="/databases/$databaseId/assets/$assetId"
      params={place}
      search={{ show: 'runs' }}
      className="button small"
      preload={false}
    >
      {children}
    </Link>
  );
}
