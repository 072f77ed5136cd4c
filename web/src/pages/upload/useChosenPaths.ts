import { useMemo, useState } from 'react';
import type { LocalFile } from './localFiles';

type Paths = ReadonlyMap<File, string>;
const NONE: Paths = new Map();

/** Files for an asset, at other paths of it than their own where someone chose that. */
export function useChosenPaths(local: readonly LocalFile[], assetId: string) {
  const [byAsset, setByAsset] = useState<Readonly<Record<string, Paths>>>({});
  const chosen = byAsset[assetId] ?? NONE;
  const files = useMemo(
    () => local.map((file) => ({ ...file, path: chosen.get(file.file) ?? file.path })),
    [local, chosen],
  );
  /** `path` is null for the file's own one. */
  const choose = (file: File, path: string | null) => {
    const next = new Map(chosen);
    if (path === null) next.delete(file);
    else next.set(file, path);
    setByAsset({ ...byAsset, [assetId]: next });
  };
  return { files, chosen, choose };
}
