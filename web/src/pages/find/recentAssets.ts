/** Assets that this tab opened lately. They end with the tab, and with the sign-in. */
interface RecentAsset {
  databaseId: string;
  assetId: string;
  name: string;
}

const STORED = 'vitrine.recent';
const MOST = 8;

export function recentAssets(): RecentAsset[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    return Array.isArray(stored) ? (stored as RecentAsset[]) : [];
  } catch {
    // Another program wrote the entry.
    return [];
  }
}

export function addRecentAsset(asset: RecentAsset): void {
  const others = recentAssets().filter(
    (recent) => recent.assetId !== asset.assetId || recent.databaseId !== asset.databaseId,
  );
  sessionStorage.setItem(STORED, JSON.stringify([asset, ...others].slice(0, MOST)));
}
