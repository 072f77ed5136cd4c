import { queryOptions } from '@tanstack/react-query';
import { addRuns, startedRuns } from '../../api/activity';
import { api, reply } from '../../api/client';
import { ApiError, isOutcomeUnknown, isRetryable, errorText } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import type { components } from '../../api/schema';
import {
  GLOBAL,
  targetName,
  toWorkflow,
  type LeftOut,
  type Target,
  type Workflow,
} from './selectedFiles';

type Started = components['schemas']['StartReply'];

const ROUTE = '/database/{databaseId}/assets/{assetId}/workflows/{workflowId}';
/** As many files as one request may name. */
const AT_ONCE = 50;

/** The workflows for assets of some databases: their own ones, and the GLOBAL ones. */
export const workflowsQuery = (databases: readonly string[]) =>
  queryOptions({
    queryKey: ['workflows', databases],
    queryFn: async (): Promise<Workflow[]> => {
      const workflows: Workflow[] = [];
      const read = async (startingToken?: string) =>
        (await reply(api.GET('/workflows', { params: { query: { startingToken } } }))).message;
      for await (const page of pagesOf(read)) workflows.push(...page.Items.map(toWorkflow));
      return workflows.filter(
        ({ databaseId }) => databaseId === GLOBAL || databases.includes(databaseId),
      );
    },
  });

export interface Result {
  started: Target[];
  failed: LeftOut[];
  /** What was not started, and may be by another try. */
  remaining: Target[];
  /** Some of them may have been started: their reply was lost. */
  unclear: boolean;
}

/** Starts a run for each target, asset by asset; what is refused does not affect the others. */
export async function startRuns(
  workflow: Workflow,
  targets: readonly Target[],
  at: (done: number) => void,
): Promise<Result> {
  const result: Result = { started: [], failed: [], remaining: [], unclear: false };
  let done = 0;
  for (const chunk of toChunks(targets)) {
    at(done);
    done += chunk.length;
    const { refused, unclear } = await startChunk(workflow, chunk);
    result.unclear ||= unclear;
    for (const target of chunk) {
      const refusal = refused.get(target.path);
      if (refusal === undefined) result.started.push(target);
      else result.failed.push({ name: targetName(target), ...refusal });
      if (refusal?.again) result.remaining.push(target);
    }
  }
  return result;
}

/** Targets of one asset each, as many as one request may name. */
export function toChunks(targets: readonly Target[]): Target[][] {
  const chunks: Target[][] = [];
  for (const target of targets) {
    const last = chunks.at(-1);
    const fits = last && last[0]?.card.id === target.card.id && last.length < AT_ONCE;
    if (fits) last.push(target);
    else chunks.push([target]);
  }
  return chunks;
}

type Refusal = Required<Omit<LeftOut, 'name'>>;

/** Refusals that end by themselves: another run of the file ends, or the queue gets shorter. */
const PASSING = /^Execution(Active|sFull|Changed)$/;

interface Outcome {
  /** The reasons of what was not started, by path. */
  refused: Map<string | null, Refusal>;
  unclear: boolean;
}

async function startChunk(workflow: Workflow, chunk: Target[]): Promise<Outcome> {
  const [{ card, path } = { card: null, path: null }] = chunk;
  if (!card) return { refused: new Map(), unclear: false };
  const fileKeys = chunk.flatMap((target) => (target.path === null ? [] : [target.path]));
  const request = api.POST(ROUTE, {
    params: {
      path: { databaseId: card.databaseId, assetId: card.assetId, workflowId: workflow.workflowId },
    },
    body: {
      workflowDatabaseId: workflow.databaseId,
      ...(path === null ? {} : { fileKeys }),
    },
  });
  try {
    // If none was started, the reply is a refusal, and has the reason of each.
    const { error } = await request;
    const started = isStarted(error) ? error : await reply(request);
    const { databaseId, assetId } = card;
    addRuns(startedRuns({ databaseId, assetId }, started));
    const reasons = (started.refused ?? []).map(
      ({ fileKey, code, message }) =>
        [fileKey, { reason: message, again: PASSING.test(code) }] as const,
    );
    return { refused: new Map(reasons), unclear: false };
  } catch (error) {
    const again = isRetryable(error) || (error instanceof ApiError && PASSING.test(error.code));
    const reason = errorText(error);
    const failed = new Map(chunk.map((target) => [target.path, { reason, again }]));
    return { refused: failed, unclear: isOutcomeUnknown(error) };
  }
}

const isStarted = (body: unknown): body is Started =>
  typeof body === 'object' && body !== null && 'refused' in body && Array.isArray(body.refused);
