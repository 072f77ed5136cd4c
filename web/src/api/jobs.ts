import { api, reply } from './client';
import { isTransient, JobFailedError, NetworkError } from './errors';
import { recordWrite } from './writes';

const PAUSE = 1_000;
const MOST_FAILURES = 10;
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

/** Waits for the end of a job that continues after the reply to a request; throws if it fails. */
export async function waitForJob(
  jobId: string,
  wait: () => Promise<unknown> = pause,
): Promise<void> {
  for (let failures = 0; ;) {
    await wait();
    try {
      const job = await reply(api.GET('/jobs/{jobId}', { params: { path: { jobId } } }));
      failures = 0;
      if (job.state === 'done') return;
      if (job.state === 'failed' || job.state === 'cancelled')
        throw new JobFailedError(job.problems);
    } catch (error) {
      if (!isTransient(error)) throw error;
      failures += 1;
      // The job continues, but its end is not known.
      if (failures >= MOST_FAILURES) throw new NetworkError(true);
    }
  }
}
