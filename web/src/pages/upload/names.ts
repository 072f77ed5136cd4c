import declared from '../../api/declared.json';
import { brokenRule } from '../../api/names';
import { uploadTexts } from '../../texts/upload';
import { extensionOf, nameOf } from '../../viewer/kinds';
import type { Chosen } from './chosen';

const { maxPathBytes, blockedExtensions, allExtensions } = declared.files;
/** Of previews, whose types are not those of files, only the server knows what is allowed. */
const PREVIEW = '.previewFile.';
const words = uploadTexts.refused;

/**
 * The files that the server would refuse, by path, with the reason. `allowed` is the list of
 * extensions of their database. Names whose letters are composed otherwise are one path: of two
 * such files one would replace the other. Which letters a joiner shapes, and how long the key of an asset is,
 * only the server knows.
 */
export function refusedFiles(
  files: readonly Chosen[],
  allowed: string,
): ReadonlyMap<string, string> {
  const types = allowed
    .split(',')
    .map((each) => each.trim().toLowerCase())
    .filter(Boolean);
  const known = new Set<string>();
  const twice = new Set<string>();
  for (const { path } of files) (known.has(path) ? twice : known).add(path);
  return new Map(
    files.flatMap(({ path }) => {
      const reason = ofNames(path) ?? ofType(path, types) ?? (twice.has(path) ? words.twice : null);
      return reason === null ? [] : [[path, reason] as const];
    }),
  );
}

function ofNames(path: string): string | null {
  const segments = path.slice(1).split('/');
  for (const [at, segment] of segments.entries()) {
    const fact = brokenRule(segment);
    if (fact === null) continue;
    return at === segments.length - 1 ? words.name(fact) : words.folder(segment, fact);
  }
  const isLong = new TextEncoder().encode(path).length > maxPathBytes;
  return isLong ? words.path(maxPathBytes) : null;
}

function ofType(path: string, types: readonly string[]): string | null {
  const name = nameOf(path).toLowerCase();
  const blocked = blockedExtensions.find((each) => name.endsWith(each));
  if (blocked !== undefined) return words.blocked(blocked);
  const isAny = !types.length || types.includes(allExtensions) || path.includes(PREVIEW);
  return isAny || types.includes(`.${extensionOf(path)}`) ? null : words.type(types);
}
