import type { Place } from '../../api/downloads';
import type { Card } from '../../api/hits';
import { queryClient } from '../../api/queries';
import { PAGE, REACHABLE } from './searchBody';
import type { FindState } from './findState';
import { cardAt, LAST_SEARCH, type Page } from './useSearch';

export interface Neighbours {
  state: FindState;
  previous: Card | undefined;
  next: Card | undefined;
}

/** The hits before and after an asset in the last search of this tab; null if it is not in it. */
export function findNeighbours(place: Place): Neighbours | null {
  const state = queryClient.getQueryData<FindState>(LAST_SEARCH);
  if (!state) return null;
  const isThis = (card: Card | undefined) =>
    card?.assetId === place.assetId && card.databaseId === place.databaseId;
  const loaded = queryClient.getQueriesData<Page>({ queryKey: ['search'] });
  const most = Math.min(REACHABLE, PAGE * (loaded.length + 1));
  for (let index = 0; index < most; index++) {
    if (!isThis(cardAt(state, index))) continue;
    return { state, previous: cardAt(state, index - 1), next: cardAt(state, index + 1) };
  }
  return null;
}
