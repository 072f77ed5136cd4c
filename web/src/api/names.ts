import declared from './declared.json';

const RULES = declared.files.nameRules.map(({ pattern, fact }) => ({
  found: new RegExp(pattern, 'gu'),
  fact,
}));

/** The rule that the name of a file or folder breaks, as the server says it; null if none. */
export function brokenRule(name: string): string | null {
  for (const { found, fact } of RULES) {
    const parts = name.match(found);
    if (parts) return fact.replace('{found}', [...new Set(parts)].sort().join(' '));
  }
  return null;
}
