import { session } from '../session/session';
import { removeJob, showJob } from './activity';
import { api, reply } from './client';
import { isTransient, JobFailedError, NetworkError } from './errors';
import type { components } from './schema';
import { recordWrite } from './writes';

const PAUSE = 1_000;
const MOST_FAILURES = 10;
export type Job = components['schemas']['JobReply'];

const pause = () => new Promise((done) => setTimeout(done, PAUSE));

/** Waits for the end of the job of a write, if it outlasts the request. */
export async function waitForWrite(
  headers: Headers,
  jobId: string | null | undefined,
): Promise<void> {
  try {
    if (jobId) await waitForJob(jobId);
  } finally {
    // Searches with the token wait for what is stored by then, also by the job.
    recordWrite(headers);
  }
}

interface PollOptions {
  wait?: () => Promise<unknown>;
  /** Called with each state of the job, also with the last one. */
  onJob?: (job: Job) => void;
}

/** Waits for the end of a job that continues after the reply to a request; throws if it fails. */
export async function waitForJob(jobId: string, options: PollOptions = {}): Promise<void> {
  const job = await pollJob(jobId, options);
  if (job.state !== 'done') throw new JobFailedError(job.problems);
}

/** Requests a job until it has ended, and returns it; one that takes longer is shown meanwhile. */
export async function pollJob(
  jobId: string,
  { wait = pause, onJob }: PollOptions = {},
): Promise<Job> {
  const { generation } = session.current();
  try {
    for (let [polls, failures] = [0, 0]; ; await wait()) {
      try {
        const job = await reply(api.GET('/jobs/{jobId}', { params: { path: { jobId } } }));
        failures = 0;
        onJob?.(job);
        if (job.state !== 'queued' && job.state !== 'running') return job;
        if (polls++) showJob(job, generation);
      } catch (error) {
        if (!isTransient(error)) throw error;
        failures += 1;
        // The job continues, but its end is not known.
        if (failures >= MOST_FAILURES) throw new NetworkError(true);
      }
    }
  } finally {
    removeJob(jobId);
  }
}
