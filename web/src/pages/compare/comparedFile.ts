import type { FileVersion, Place } from '../../api/downloads';

/** A file that is shown beside another one: its newest content, or an earlier one. */
export interface ComparedFile extends Place {
  path: string;
  earlier?: FileVersion | undefined;
}

/** As a part of an address. Ids of databases, assets and versions have no colon. */
export function encodeCompared({ databaseId, assetId, path, earlier }: ComparedFile): string {
  const { assetVersionId = '', versionId = '' } = earlier ?? {};
  return [databaseId, assetId, assetVersionId, versionId, path].join(':');
}

/** Returns the file that a part of an address names, or null if it names none. */
export function decodeCompared(text: string): ComparedFile | null {
  const [databaseId, assetId, assetVersionId, versionId, ...rest] = text.split(':');
  const path = rest.join(':');
  if (!databaseId || !assetId || !path.startsWith('/')) return null;
  const file = { databaseId, assetId, path };
  if (!versionId) return file;
  return { ...file, earlier: { versionId, assetVersionId: assetVersionId || undefined } };
}
