/** Assets that this tab opened lately. They end with the tab, and with the sign-in. */
export interface Recent {
  databaseId: string;
  assetId: string;
  name: string;
}

const STORED = 'vitrine.recent';
const MOST = 8;

export function recent(): Recent[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    return Array.isArray(stored) ? (stored as Recent[]) : [];
  } catch {
    // Another program wrote the entry.
    return [];
  }
}

export function opened(asset: Recent): void {
  const others = recent().filter(
    (each) => each.assetId !== asset.assetId || each.databaseId !== asset.databaseId,
  );
  sessionStorage.setItem(STORED, JSON.stringify([asset, ...others].slice(0, MOST)));
}
