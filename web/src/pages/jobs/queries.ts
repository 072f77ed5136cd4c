import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import type { Job } from '../../api/jobs';
import { runsTexts } from '../../texts/runs';

const PAGE = 25;
const SOON = 2_000;

const KINDS = new Map<string, string>(Object.entries(runsTexts.kinds));
/** What the page calls what a job does. */
export const jobName = ({ kind }: Job): string => KINDS.get(kind) ?? kind;

export const isUnfinished = ({ state }: Job): boolean => state === 'queued' || state === 'running';

/** The jobs that the user has started, newest first; again while one is not finished. */
export const jobsQuery = infiniteQueryOptions({
  queryKey: ['jobs'],
  queryFn: ({ pageParam }) => {
    const query = { pageSize: PAGE, maxItems: PAGE, startingToken: pageParam ?? undefined };
    return reply(api.GET('/jobs', { params: { query } }));
  },
  initialPageParam: null as string | null,
  getNextPageParam: (page) => page.NextToken ?? undefined,
  refetchInterval: ({ state }) =>
    state.data?.pages.some((page) => page.items.some(isUnfinished)) ? SOON : false,
  // Jobs are started on other pages.
  staleTime: 0,
});

export async function cancelJob(jobId: string): Promise<void> {
  await reply(api.POST('/jobs/{jobId}/cancel', { params: { path: { jobId } } }));
}

export async function resumeJob(jobId: string): Promise<void> {
  await reply(api.POST('/jobs/{jobId}/resume', { params: { path: { jobId } } }));
}
