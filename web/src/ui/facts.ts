import declared from '../api/declared.json';
import { texts } from '../texts';
import { compareNames } from '../texts/formats';

export type FactType = 'string' | 'number' | 'boolean' | 'date';

interface Fact {
  key: string;
  label: string;
  type: FactType;
}

export const FACT_PREFIX = 'fact_';
const LABELS = new Map<string, string>(Object.entries(texts.facts));

/** What a fact is called everywhere on the page: `texturesFound` is “Textures found”. */
export function factLabel(name: string): string {
  const words =
    LABELS.get(name) ?? name.replace(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

const KNOWN = new Map(
  Object.entries(declared.facts).map(([name, type]): [string, Fact] => {
    const key = FACT_PREFIX + name;
    return [key, { key, label: factLabel(name), type: type as FactType }];
  }),
);

/** The fact that a key of a search names. */
export const factByKey = (key: string): Fact | undefined => KNOWN.get(key);

/** About the reading of the file, or a list of numbers: no one searches for these. */
const UNOFFERED = /^fact_(sourceVersionId|readersVersion|boundsM.*)$/;

/** About the reading of the file, or what is shown elsewhere: no one reads it as a fact. */
export const isReadable = (fact: string): boolean =>
  !/^(sourceVersionId|readersVersion|references|shape|boundsM.*)$/.test(fact);

/** The facts that the page offers, by label. */
export const FACTS: readonly Fact[] = [...KNOWN.values()]
  .filter(({ key }) => !UNOFFERED.test(key))
  .sort((a, b) => compareNames(a.label, b.label));

/** What people look for first; how the file was made and read comes last. */
const FIRST = ['pages', 'triangles', 'points', 'splats', 'volume', 'area', 'watertight'];
const LAST = ['unit', 'upAxis', 'crs', 'format', 'generator', 'unverified'];
const ranks = new Map<string, number>([
  ...FIRST.map((name, at): [string, number] => [name, at - FIRST.length]),
  ...LAST.map((name, at): [string, number] => [name, at + 1]),
]);

/** The order of facts: that of their use, and of others as they come. */
export const compareFacts = (a: string, b: string): number =>
  (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0);

/** What the page calls a key of a search: the label of a fact, or the key itself. */
export const keyLabel = (key: string): string => factByKey(key)?.label ?? key;
