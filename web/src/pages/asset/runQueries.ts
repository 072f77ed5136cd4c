import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { addRuns, startedRuns } from '../../api/activity';
import { api, reply } from '../../api/client';
import type { Place } from '../../api/downloads';
import type { components } from '../../api/schema';
import { runsTexts } from '../../texts/runs';

export type Run = components['schemas']['ExecutionItem'];
export type RunDetail = components['schemas']['ExecutionDetail'];

const ROUTE = '/database/{databaseId}/assets/{assetId}';
const PAGE = 20;
const SOON = 3_000;

export const isActive = ({ executionStatus: status }: Pick<Run, 'executionStatus'>): boolean =>
  status === 'NEW' || status === 'RUNNING';

const keyOf = (place: Place, ...rest: string[]) => [
  'runs',
  place.databaseId,
  place.assetId,
  ...rest,
];

/** The runs of workflows on an asset and its files, newest first; again while one is active. */
export const runsQuery = (place: Place) =>
  infiniteQueryOptions({
    queryKey: keyOf(place),
    queryFn: async ({ pageParam }) => {
      const query = { pageSize: PAGE, maxItems: PAGE, startingToken: pageParam ?? undefined };
      const params = { path: place, query };
      return (await reply(api.GET(`${ROUTE}/workflows/executions`, { params }))).message;
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.NextToken ?? undefined,
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.Items.some(isActive)) ? SOON : false,
  });

const BUILT_IN = new Map<string, string>(Object.entries(runsTexts.builtIn));
/** What the page calls a workflow or a pipeline. */
export const workflowName = (id: string): string => BUILT_IN.get(id) ?? id;

const DERIVED = new Map(Object.entries(runsTexts.derived));
/** What the page calls an output: the API names those for the page itself by their keys. */
export function outputName(name: string): string {
  const [, file, extension] = /^[^/]+\/glb\/(.+)\/[^/]+\.(\w+)$/.exec(name) ?? [];
  const derived = DERIVED.get(extension ?? '');
  if (file && derived) return derived(file);
  return name.replace(/^\//, '') || runsTexts.wholeAsset;
}

export const runQuery = (place: Place, executionId: string) =>
  queryOptions({
    queryKey: keyOf(place, executionId),
    queryFn: async () => {
      const params = { path: { ...place, executionId } };
      return (await reply(api.GET(`${ROUTE}/executions/{executionId}`, { params }))).message;
    },
    refetchInterval: ({ state }) => (state.data && isActive(state.data) ? SOON : false),
  });

export async function stopRun(place: Place, executionId: string): Promise<void> {
  const params = { path: { ...place, executionId } };
  await reply(api.DELETE(`${ROUTE}/executions/{executionId}`, { params }));
}

/** Starts the same workflow on the same file. */
export async function repeatRun(place: Place, executionId: string): Promise<void> {
  const params = { path: { ...place, executionId } };
  const request = api.POST(`${ROUTE}/executions/{executionId}/rerun`, { params });
  addRuns(startedRuns(place, await reply(request)));
}
