import { compareNames } from '../../texts/formats';
import { fileName } from '../../ui/fileKinds';
import type { LocalFile } from './localFiles';

/** As many as a person answers one by one. */
const MOST = 20;

export interface SameName {
  local: LocalFile;
  /** Other paths of the asset with the same name. */
  paths: string[];
}

/**
 * Files that are new at their path, and whose name a file at another path has. Those of a chosen
 * folder have their place in it, so they are not among them.
 */
export function findSameNames(
  files: readonly LocalFile[],
  sizes: ReadonlyMap<string, number>,
  folder = '/',
): SameName[] {
  const byName = new Map<string, string[]>();
  for (const path of sizes.keys())
    byName.set(fileName(path), [...(byName.get(fileName(path)) ?? []), path]);
  const single = files.filter(
    ({ path, folder: chosen }) => !chosen && !path.slice(folder.length).includes('/'),
  );
  return single
    .filter(({ path }) => !sizes.has(path))
    .flatMap((local) => {
      const paths = byName.get(fileName(local.path)) ?? [];
      return paths.length ? [{ local, paths: paths.sort(compareNames) }] : [];
    })
    .slice(0, MOST);
}
