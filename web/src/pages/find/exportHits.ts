import { toCard, type Card, type Hit } from '../../api/hits';
import { search } from '../../api/search';
import { exportTexts } from '../../texts/export';
import { toCsv } from '../../ui/csv';
import { filtersOf } from './conditionFilters';
import type { FindState } from './findState';
import { REACHABLE, searchBody } from './searchBody';

/** The most that the server returns of folded hits. */
const PAGE = 100;

/** The hits of a search as CSV, up to those that can be reached; `onPage` reports the progress. */
export async function exportHits(
  state: FindState,
  signal: AbortSignal,
  onPage: (done: number, of: number) => void,
): Promise<{ csv: string; assets: number }> {
  const body = searchBody(state, 1, false, filtersOf(state.meta ?? []));
  const rows: string[][] = [[...exportTexts.columns]];
  let total = 1;
  for (let from = 0; from < total; from += PAGE) {
    const { reply } = await search({ ...body, from, size: PAGE, previews: false }, signal);
    total = Math.min(reply.assetsFound ?? 0, REACHABLE);
    rows.push(...reply.hits.hits.map((hit) => toRow(toCard(hit as Hit))));
    onPage(Math.min(from + PAGE, total), total);
  }
  return { csv: toCsv(rows), assets: rows.length - 1 };
}

const toRow = (card: Card): string[] => [
  card.databaseId,
  card.name,
  card.description,
  card.type,
  card.size === null ? '' : String(card.size),
  card.tags.join(' '),
  card.changed,
  `${location.origin}/ui/databases/${encodeURIComponent(card.databaseId)}/assets/${encodeURIComponent(card.assetId)}`,
];
