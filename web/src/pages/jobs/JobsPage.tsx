import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { errorText } from '../../api/errors';
import type { Job } from '../../api/jobs';
import { texts } from '../../texts';
import { formatDateTime, visibleName } from '../../texts/formats';
import { runsTexts } from '../../texts/runs';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { MoreButton } from '../../ui/MoreButton';
import { UserText } from '../../ui/UserText';
import { cancelJob, isUnfinished, jobName, jobsQuery, resumeJob } from './queries';
import './jobs.css';

const words = runsTexts;

/** The jobs that the user has started. */
export function JobsPage() {
  const query = useInfiniteQuery(jobsQuery);
  const cache = useQueryClient();
  const [state, setState] = useState({ busy: false, failure: '' });
  useEffect(() => {
    document.title = `${words.jobs} · ${texts.product}`;
  }, []);
  const act = async (change: typeof cancelJob, job: Job) => {
    setState({ busy: true, failure: '' });
    let failure = '';
    try {
      await change(job.jobId);
    } catch (error) {
      failure = errorText(error);
    }
    // The buttons of the state before stay disabled until the list is read again.
    await cache.invalidateQueries({ queryKey: jobsQuery.queryKey });
    setState({ busy: false, failure });
  };
  const jobs = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="jobs">
      <h1>{words.jobs}</h1>
      <p className="faint">{words.jobsHelp}</p>
      {query.isPending && <p className="hidden">{texts.loading}</p>}
      {query.isError && !query.data && (
        <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && !jobs.length && <p className="notice">{words.noJobs}</p>}
      <p className="failure" role="alert">
        {state.failure}
      </p>
      <ul className="stack">
        {query.isPending && [1, 2, 3].map((at) => <li key={at} aria-hidden="true" />)}
        {jobs.map((job) => (
          <li key={job.jobId} className="stack">
            <JobLine job={job} />
            <div className="acts">
              {job.databaseId && job.assetId && (
                <Link
                  to="/databases/$databaseId/assets/$assetId"
                  params={{ databaseId: job.databaseId, assetId: job.assetId }}
                  className="button small"
                  preload={false}
                >
                  {words.openAsset}
                </Link>
              )}
              {isUnfinished(job) && job.cancellable && (
                <JobButton
                  job={job}
                  name={words.stop}
                  disabled={state.busy}
                  onClick={() => void act(cancelJob, job)}
                />
              )}
              {job.resumable && (
                <JobButton
                  job={job}
                  name={words.resume}
                  disabled={state.busy}
                  onClick={() => void act(resumeJob, job)}
                />
              )}
            </div>
          </li>
        ))}
      </ul>
      <MoreButton query={query} text={words.moreJobs} />
    </div>
  );
}

function JobLine({ job }: { job: Job }) {
  return (
    <>
      <p>
        <strong>{jobName(job)}</strong> <span className="tag">{words.jobStates[job.state]}</span>
      </p>
      {isUnfinished(job) && <JobProgress job={job} />}
      <p className="faint">
        {words.progress(job.itemsDone, job.itemsTotal ?? null)} · {formatDateTime(job.createdAt)}
      </p>
      {job.problems.length > 0 && (
        <ul className="names failure">
          {job.problems.map((problem, at) => (
            <li key={at}>
              <UserText text={problem} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

export function JobProgress({ job }: { job: Job }) {
  const { itemsDone: done, itemsTotal: total = null } = job;
  return (
    <progress
      aria-label={jobName(job)}
      value={total === null ? undefined : done}
      max={total ?? undefined}
    />
  );
}

/** An act whose name says for screen readers which job it is about. */
export function JobButton(props: {
  job: Job;
  name: string;
  disabled: boolean;
  onClick: () => void;
}) {
  const { job, name } = props;
  return (
    <button
      type="button"
      className="small"
      aria-label={`${name}: ${words.job(visibleName(jobName(job)), formatDateTime(job.createdAt))}`}
      disabled={props.disabled}
      onClick={props.onClick}
    >
      {name}
    </button>
  );
}
