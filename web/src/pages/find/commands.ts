import type { Place } from '../../api/downloads';
import { FACT_PREFIX } from '../../ui/facts';
import { endOfDay, FACETS, type Facet, type FindState } from './findState';
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

/** The files that a command names; of more it names a pattern. */
const NAMED = 20;

/** The command that uploads files into an asset, run beside them; null for files in folders. */
export function uploadCommand(place: Place, paths: readonly string[]): string | null {
  const names = paths.map((path) => path.slice(1));
  if (!names.length || names.length > NAMED || names.some((name) => name.includes('/')))
    return null;
  // A name that begins with a dash would be an option.
  const files = names.map((name) => (name.startsWith('-') ? `./${name}` : name));
  return toCommand('vitrine', 'ingest', place.databaseId, place.assetId, ...files);
}

const CHOICES: Record<Facet, string> = {
  str_databaseid: 'database',
  str_fileext: 'ext',
  list_tags: 'tag',
  fact_format: 'format',
  fact_watertight: 'watertight',
  fact_unit: 'unit',
};
const SIGNS = { eq: '=', gte: '>=', lte: '<=' } as const;

/** The command that searches for the same; null if it has no option for a filter. */
export function searchCommand(state: FindState): string | null {
  const { q = '', facets = {}, triangles, taken, meta = [] } = state;
  if (state.size ?? state.date ?? meta.some(({ key }) => /[=<>!]/.test(key))) return null;
  const options: string[] = ['--fold'];
  for (const facet of FACETS)
    for (const value of facets[facet] ?? []) options.push('--choose', `${CHOICES[facet]}=${value}`);
  for (const [name, bounds] of [
    ['triangles', triangles ?? []],
    ['taken', taken && [taken[0], taken[1] && endOfDay(taken[1])]],
  ] as const) {
    const [from, to] = bounds ?? [];
    if (from != null) options.push('--where', `${name}>=${from}`);
    if (to != null) options.push('--where', `${name}<=${to}`);
  }
  for (const { key, op, value = '' } of meta) {
    const isFact = key.startsWith(FACT_PREFIX);
    const name = isFact ? key.slice(FACT_PREFIX.length) : key;
    const condition = op === 'exists' ? name : `${name}${SIGNS[op]}${value}`;
    options.push(isFact ? '--where' : '--metadata', condition);
  }
  if (state.archived) options.push('--archived');
  return toCommand('vitrine', 'search', ...options, ...(q.startsWith('-') ? ['--'] : []), q);
}
