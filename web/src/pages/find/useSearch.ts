import { keepPreviousData, useQueries, useQuery, queryOptions } from '@tanstack/react-query';
import { columnFields } from '../../api/columns';
import { ApiError } from '../../api/errors';
import { queryClient } from '../../api/queries';
import { search, pollWhileLagging, type SearchResult } from '../../api/search';
import type { FailedQuery } from '../../ui/InlineError';
import { loadChunk } from '../../api/loadChunk';
import { toCard, type Card, type Hit } from '../../api/hits';
import { PAGE, searchBody } from './searchBody';
import type { FindState } from './findState';

export interface Page extends SearchResult {
  cards: Card[];
}

/** What the find page shows, or showed last; the cache is emptied when someone signs out. */
export const LAST_SEARCH = ['last-search'];

const INSPECTION = 4_000;
/** False once the server has said that its indexes are too old for conditions on facts. */
let facts = true;

function searchPageQuery(state: FindState, page: number) {
  const fields = state.view === 'list' ? columnFields() : [];
  return queryOptions({
    queryKey: ['search', { ...state, view: undefined }, page, fields],
    queryFn: ({ signal }) => fetchPage(state, page, fields, signal),
    refetchInterval: (query) => {
      const data = query.state.data;
      if (!data) return false;
      if (data.lagging) return pollWhileLagging(data);
      const waits = data.cards.some((card) => card.picture.previewMissing?.reason === 'inspecting');
      return waits ? INSPECTION : false;
    },
  });
}

const loadConditionFilters = () => loadChunk(() => import('./conditionFilters'));

async function fetchPage(
  state: FindState,
  page: number,
  sourceFields: string[],
  signal: AbortSignal,
): Promise<Page> {
  const conditions = state.meta && (await loadConditionFilters()).filtersOf(state.meta);
  const body = { ...searchBody(state, page, facts, conditions), sourceFields };
  try {
    const result = await search(body, signal);
    return { ...result, cards: result.reply.hits.hits.map((hit) => toCard(hit as Hit)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!facts || error.code !== 'AttributesNotIndexed') {
      throw (await loadConditionFilters()).ofConditions(error, body.metadataFilters ?? []);
    }
    facts = false;
    return fetchPage(state, page, sourceFields, signal);
  }
}

/** The first page of a search, with its facets; the one before is shown until it is there. */
export const useFirstPage = (state: FindState) =>
  useQuery({ ...searchPageQuery(state, 0), placeholderData: keepPreviousData });

interface Pages {
  pages: Map<number, Page>;
  /** One that could not be loaded. */
  failed: FailedQuery | undefined;
}

/** Further pages, each when its rows come into view. */
export function usePages(state: FindState, numbers: number[]): Pages {
  const queries = useQueries({ queries: numbers.map((page) => searchPageQuery(state, page)) });
  const pages = queries.flatMap(({ data }, at) => {
    const page = numbers[at];
    return data && page !== undefined ? [[page, data] as const] : [];
  });
  return { pages: new Map(pages), failed: queries.find((query) => query.isError && !query.data) };
}

/** The loaded hits from one place to another, in any direction; null if one is not loaded. */
export function cardsBetween(state: FindState, start: number, other: number): Card[] | null {
  const cards: Card[] = [];
  for (let index = Math.min(start, other); index <= Math.max(start, other); index++) {
    const card = cardAt(state, index);
    if (!card) return null;
    cards.push(card);
  }
  return cards;
}

/** The loaded hit at a place. */
export const cardAt = (state: FindState, index: number): Card | undefined =>
  index < 0
    ? undefined
    : queryClient.getQueryData<Page>(searchPageQuery(state, pageOfIndex(index)).queryKey)?.cards[
        index % PAGE
      ];

export const pageOfIndex = (index: number): number => Math.floor(index / PAGE);
