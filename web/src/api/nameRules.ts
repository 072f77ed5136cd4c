import declared from './declared.json';

const RULES = declared.files.nameRules.map(({ pattern, fact }) => ({
  characters: new RegExp(pattern, 'gu'),
  fact,
}));
const { blankEnd, characters, allowed, joiners } = declared.files.invisible;
const BLANK_END = new RegExp(blankEnd.pattern, 'u');
const INVISIBLE = new RegExp(characters.pattern, 'gu');
const ALLOWED = new RegExp(allowed, 'gu');

/** The rule that the name of a file or folder breaks, as the server says it; null if none. */
export function brokenRule(name: string): string | null {
  for (const { characters, fact } of RULES) {
    const matches = name.match(characters);
    if (matches) return fact.replace('{found}', [...new Set(matches)].sort().join(' '));
  }
  return invisibleCharacter(name);
}

function invisibleCharacter(name: string): string | null {
  const blank = BLANK_END.exec(name);
  if (blank) return formatCharacterFact(blankEnd.fact, blank[1] ?? blank[2] ?? '');
  const invisible = name.replace(ALLOWED, '').match(INVISIBLE) ?? [];
  // Which letters a joiner shapes, only the server knows.
  const first = invisible.find((character) => !joiners.includes(character));
  return first === undefined ? null : formatCharacterFact(characters.fact, first);
}

const formatCharacterFact = (fact: string, letter: string): string =>
  fact.replace('{code}', (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0'));
