import { keepPreviousData, useQueries, useQuery, queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../api/errors';
import { queries } from '../../api/queries';
import { search, untilFound, type Found } from '../../api/search';
import type { Query } from '../../ui/Failed';
import { part } from '../../ui/part';
import { cardOf, type Card, type Hit } from './hits';
import { PAGE, searchBody } from './request';
import type { FindState } from './state';

export interface Page extends Found {
  cards: Card[];
}

const INSPECTION = 4_000;
/** False once the server has said that its indexes are too old for conditions on facts. */
let facts = true;

const pageOf = (state: FindState, page: number) =>
  queryOptions({
    queryKey: ['search', { ...state, view: undefined }, page],
    queryFn: ({ signal }) => fetchPage(state, page, signal),
    refetchInterval: (query) => {
      const found = query.state.data;
      if (!found) return false;
      if (found.lagging) return untilFound(found);
      const waits = found.cards.some(
        (card) => card.picture.previewMissing?.reason === 'inspecting',
      );
      return waits ? INSPECTION : false;
    },
  });

const load = () => part(() => import('./conditionFilters'));

async function fetchPage(state: FindState, page: number, signal: AbortSignal): Promise<Page> {
  const conditions = state.meta && (await load()).filtersOf(state.meta);
  const body = searchBody(state, page, facts, conditions);
  try {
    const found = await search(body, signal);
    return { ...found, cards: found.reply.hits.hits.map((hit) => cardOf(hit as Hit)) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!facts || error.code !== 'AttributesNotIndexed') {
      throw (await load()).ofConditions(error, body.metadataFilters ?? []);
    }
    facts = false;
    return fetchPage(state, page, signal);
  }
}

/** The first page of a search, with its facets; the one before is shown until it is there. */
export const useFirstPage = (state: FindState) =>
  useQuery({ ...pageOf(state, 0), placeholderData: keepPreviousData });

interface Pages {
  pages: Map<number, Page>;
  /** One that could not be loaded. */
  failed: Query | undefined;
}

/** Further pages, each when its rows come into view. */
export function usePages(state: FindState, wanted: number[]): Pages {
  const found = useQueries({ queries: wanted.map((page) => pageOf(state, page)) });
  const pages = found.flatMap(({ data }, at) => {
    const page = wanted[at];
    return data && page !== undefined ? [[page, data] as const] : [];
  });
  return { pages: new Map(pages), failed: found.find((each) => each.isError && !each.data) };
}

/** The loaded hits from one place to another, in any direction; null if one is not loaded. */
export function cardsBetween(state: FindState, one: number, other: number): Card[] | null {
  const cards: Card[] = [];
  for (let index = Math.min(one, other); index <= Math.max(one, other); index++) {
    const page = queries.getQueryData<Page>(pageOf(state, pageOfRow(index)).queryKey);
    const card = page?.cards[index % PAGE];
    if (!card) return null;
    cards.push(card);
  }
  return cards;
}

export const pageOfRow = (index: number): number => Math.floor(index / PAGE);
