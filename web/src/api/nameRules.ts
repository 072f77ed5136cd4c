import declared from './declared.json';

const RULES = declared.files.nameRules.map(({ pattern, fact }) => ({
  found: new RegExp(pattern, 'gu'),
  fact,
}));
const { blankEnd, characters, allowed, joiners } = declared.files.invisible;
const BLANK_END = new RegExp(blankEnd.pattern, 'u');
const INVISIBLE = new RegExp(characters.pattern, 'gu');
const ALLOWED = new RegExp(allowed, 'gu');

/** The rule that the name of a file or folder breaks, as the server says it; null if none. */
export function brokenRule(name: string): string | null {
  for (const { found, fact } of RULES) {
    const parts = name.match(found);
    if (parts) return fact.replace('{found}', [...new Set(parts)].sort().join(' '));
  }
  return invisibleCharacter(name);
}

function invisibleCharacter(name: string): string | null {
  const blank = BLANK_END.exec(name);
  if (blank) return formatCharacterFact(blankEnd.fact, blank[1] ?? blank[2] ?? '');
  const found = name.replace(ALLOWED, '').match(INVISIBLE) ?? [];
  // Which letters a joiner shapes, only the server knows.
  const first = found.find((each) => !joiners.includes(each));
  return first === undefined ? null : formatCharacterFact(characters.fact, first);
}

const formatCharacterFact = (fact: string, letter: string): string =>
  fact.replace('{code}', (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0'));
