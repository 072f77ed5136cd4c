import type { AssetCard } from './selectedFiles';

/** A word of a command as a POSIX shell reads it. */
const quote = (word: string): string =>
  /^[\w./:@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

const toCommand = (...words: string[]): string => words.map(quote).join(' ');

/** The commands that download assets, or a folder of one, whatever their sizes. */
export const downloadCommand = (cards: readonly AssetCard[], folder?: string): string =>
  cards
    .map(({ databaseId, assetId }) =>
      toCommand('vitrine', 'download', databaseId, assetId, ...(folder ? [folder] : [])),
    )
    .join('\n');
