import { queries } from '../../api/queries';
import type { Place } from '../../viewer/sources';
import type { Card } from './hits';
import { recent } from './recent';
import type { Page } from './useSearch';

/** What the hits of this tab, or the assets that it opened lately, have of an asset. */
export function knownAsset(place: Place): Pick<Card, 'name' | 'description' | 'tags'> | undefined {
  const isThis = (one: Place) =>
    one.assetId === place.assetId && one.databaseId === place.databaseId;
  const pages = queries.getQueriesData<Page>({ queryKey: ['search'] });
  const card = pages.flatMap(([, page]) => page?.cards ?? []).find(isThis);
  if (card) return card;
  const opened = recent().find(isThis);
  return opened && { name: opened.name, description: '', tags: [] };
}
