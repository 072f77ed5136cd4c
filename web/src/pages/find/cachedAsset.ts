import { queryClient } from '../../api/queries';
import type { Place } from '../../api/downloads';
import type { Card } from '../../api/hits';
import { recentAssets } from './recentAssets';
import type { Page } from './useSearch';

/** What the hits of this tab, or the assets that it opened lately, have of an asset. */
export function cachedAsset(place: Place): Pick<Card, 'name' | 'description' | 'tags'> | undefined {
  const isThis = (other: Place) =>
    other.assetId === place.assetId && other.databaseId === place.databaseId;
  const pages = queryClient.getQueriesData<Page>({ queryKey: ['search'] });
  const card = pages.flatMap(([, page]) => page?.cards ?? []).find(isThis);
  if (card) return card;
  const opened = recentAssets().find(isThis);
  return opened && { name: opened.name, description: '', tags: [] };
}
