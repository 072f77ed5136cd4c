import type { Place } from '../../api/downloads';
import type { Act, Draft } from './fileChanges';

const STORED = 'vitrine.folder-move';

/** A move of a folder that runs in this tab, file by file. */
export interface FolderMove extends Place {
  act: Act;
  path: string;
  draft: Draft;
  /** How many files the folder had. */
  files: number;
}

/** Notes the move that runs, which ends with the page; null after its end. */
export function rememberMove(move: FolderMove | null): void {
  if (move) sessionStorage.setItem(STORED, JSON.stringify(move));
  else sessionStorage.removeItem(STORED);
}

/** The move of a folder of this asset that a reload has interrupted. */
export function interruptedMove({ databaseId, assetId }: Place): FolderMove | null {
  // Only this page writes the entry, and signing out removes it.
  const move = JSON.parse(sessionStorage.getItem(STORED) ?? 'null') as FolderMove | null;
  return move?.databaseId === databaseId && move.assetId === assetId ? move : null;
}
