import declared from '../../api/declared.json';
import { brokenRule } from '../../api/nameRules';
import { uploadTexts } from '../../texts/upload';
import { fileExtension, fileName } from '../../ui/fileKinds';
import type { LocalFile } from './localFiles';

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
  files: readonly LocalFile[],
  allowed: string,
): ReadonlyMap<string, string> {
  const types = allowed
    .split(',')
    .map((extension) => extension.trim().toLowerCase())
    .filter(Boolean);
  const paths = new Set<string>();
  const twice = new Set<string>();
  for (const { path } of files) (paths.has(path) ? twice : paths).add(path);
  return new Map(
    files.flatMap(({ path }) => {
      const reason =
        nameProblem(path) ?? typeProblem(path, types) ?? (twice.has(path) ? words.twice : null);
      return reason === null ? [] : [[path, reason] as const];
    }),
  );
}

function nameProblem(path: string): string | null {
  const segments = path.slice(1).split('/');
  for (const [at, segment] of segments.entries()) {
    const fact = brokenRule(segment);
    if (fact === null) continue;
    return at === segments.length - 1 ? words.name(fact) : words.folder(segment, fact);
  }
  const isLong = new TextEncoder().encode(path).length > maxPathBytes;
  return isLong ? words.path(maxPathBytes) : null;
}

function typeProblem(path: string, types: readonly string[]): string | null {
  const name = fileName(path).toLowerCase();
  const blocked = blockedExtensions.find((extension) => name.endsWith(extension));
  if (blocked !== undefined) return words.blocked(blocked);
  const isAny = !types.length || types.includes(allExtensions) || path.includes(PREVIEW);
  return isAny || types.includes(`.${fileExtension(path)}`) ? null : words.type(types);
}
