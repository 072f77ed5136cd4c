import { session } from '../session/session';
import { createStore } from './createStore';
import type { Place } from './downloads';
import type { components } from './schema';

type Job = components['schemas']['JobReply'];

/** A run of a workflow that the user has started. */
export interface StartedRun {
  place: Place;
  executionId: string;
}

interface Activity {
  jobs: ReadonlyMap<string, Job>;
  runs: readonly StartedRun[];
}

const NONE: Activity = { jobs: new Map(), runs: [] };

/** The jobs that the page waits for, and the runs that it has started: shown on all of its pages. */
export const activity = createStore(NONE);
let { generation } = session.current();
session.subscribe(() => {
  // The next user sees nothing of them.
  if (session.current().generation !== generation) activity.set(NONE);
  ({ generation } = session.current());
});

export function showJob(job: Job, ofGeneration: number): void {
  if (ofGeneration !== generation) return;
  const { jobs, runs } = activity.current();
  activity.set({ jobs: new Map(jobs).set(job.jobId, job), runs });
}

export function removeJob(jobId: string): void {
  const { jobs, runs } = activity.current();
  if (jobs.has(jobId))
    activity.set({ jobs: new Map([...jobs].filter(([id]) => id !== jobId)), runs });
}

/** The runs that a reply names: without a list, only the one whose id is its message. */
export const startedRuns = (
  place: Place,
  { message, executions }: components['schemas']['StartReply'],
): StartedRun[] =>
  (executions ?? [{ executionId: message }]).map(({ executionId }) => ({ place, executionId }));

export function addRuns(added: readonly StartedRun[]): void {
  const { jobs, runs } = activity.current();
  if (added.length) activity.set({ jobs, runs: [...runs, ...added] });
}

export function removeRun(executionId: string): void {
  const { jobs, runs } = activity.current();
  activity.set({ jobs, runs: runs.filter((run) => run.executionId !== executionId) });
}
