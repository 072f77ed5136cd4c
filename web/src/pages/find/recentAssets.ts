import { hasTexts, readList, storeList } from '../../api/tabStorage';

/** Assets that this tab opened lately. They end with the tab, and with the sign-in. */
interface RecentAsset {
  databaseId: string;
  assetId: string;
  name: string;
}

const STORED = 'vitrine.recent';
const MOST = 8;

const isRecentAsset = (value: unknown): value is RecentAsset =>
  hasTexts(value, 'databaseId', 'assetId', 'name');

export const recentAssets = (): RecentAsset[] => readList(STORED, isRecentAsset) ?? [];

export function addRecentAsset(asset: RecentAsset): void {
  const others = recentAssets().filter(
    (recent) => recent.assetId !== asset.assetId || recent.databaseId !== asset.databaseId,
  );
  storeList(STORED, [asset, ...others].slice(0, MOST));
}
