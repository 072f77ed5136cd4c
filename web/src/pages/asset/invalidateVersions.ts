import type { QueryClient } from '@tanstack/react-query';
import type { Place } from '../../api/downloads';

/** Requests again what a version, or a return to one, may have changed. */
export function invalidateVersions(cache: QueryClient, { databaseId, assetId }: Place): void {
  for (const queryKey of [
    ['files', databaseId, assetId],
    ['asset', databaseId, assetId],
    ['search'],
    ['previews'],
  ])
    void cache.invalidateQueries({ queryKey });
}
