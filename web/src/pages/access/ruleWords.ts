import type { components } from '../../api/schema';
import { accessTexts } from '../../texts/access';
import { formatList } from '../../texts/formats';

const words = accessTexts;

export type Constraint = components['schemas']['ConstraintReply'];
type Criterion = Constraint['criteriaAnd'][number];

/** Who a rule is for. */
export interface Grantee {
  kind: 'role' | 'user';
  name: string;
}

interface Effect {
  permission: string;
  permissionType: string;
}

const EVERYTHING = '.*';
/** Rules that let requests and pages through; what they are about is in other rules. */
const isOfRequests = ({ objectType }: Constraint) => objectType === 'api' || objectType === 'web';

const effectsOf = (constraint: Constraint, { kind, name }: Grantee): Effect[] =>
  kind === 'role'
    ? constraint.groupPermissions.filter(({ groupId }) => groupId === name)
    : constraint.userPermissions.filter(({ userId }) => userId === name);

/** The rules of a role, or of a person alone. */
export const rulesOf = (constraints: readonly Constraint[], grantee: Grantee): Constraint[] =>
  constraints.filter((constraint) => effectsOf(constraint, grantee).length > 0);

const valuesOf = ({ value }: Criterion): string[] => (Array.isArray(value) ? value : [value]);

/** What a role allows and denies, in sentences. */
export function sentencesOf(constraints: readonly Constraint[], grantee: Grantee): string[] {
  const rules = rulesOf(constraints, grantee);
  const sentences = inSentences(
    rules.filter((rule) => !isOfRequests(rule)),
    grantee,
  );
  const requests = rules.filter(isOfRequests);
  if (!requests.some(({ objectType }) => objectType === 'api'))
    return sentences.length ? [words.withOthers, ...sentences] : [words.ineffective];
  return [...sentences, words.requests(requests.length)];
}

/** What the rules of a role deny, in sentences. */
export const denialsOf = (constraints: readonly Constraint[], grantee: Grantee): string[] =>
  inSentences(rulesOf(constraints, grantee), grantee, ['deny']);

/** Whether a role has rules about this database by its name. */
export const isAbout = (
  constraints: readonly Constraint[],
  grantee: Grantee,
  databaseId: string,
): boolean =>
  rulesOf(constraints, grantee).some(({ criteriaAnd, criteriaOr }) =>
    [...criteriaAnd, ...criteriaOr].some(
      (criterion) =>
        criterion.field === 'databaseId' &&
        /^(equals|is_one_of)$/.test(criterion.operator) &&
        valuesOf(criterion).includes(databaseId),
    ),
  );

/** What some rules allow and deny, in sentences; objects of the same conditions are in one. */
function inSentences(
  rules: readonly Constraint[],
  grantee: Grantee,
  types: readonly string[] = ['allow', 'deny'],
): string[] {
  const objects = new Map<string, string[]>();
  const sentences = new Map<string, (objects: string) => string>();
  for (const rule of [...rules].sort((a, b) => rank(a) - rank(b))) {
    for (const type of types) {
      const effects = effectsOf(rule, grantee).filter((effect) => effect.permissionType === type);
      const verbs = Object.keys(words.verbs).filter((verb) =>
        effects.some(({ permission }) => permission === verb),
      );
      if (!verbs.length) continue;
      const isAllowed = type === 'allow';
      const conditions = conditionsOf(rule, isAllowed);
      const key = JSON.stringify([type, verbs, conditions]);
      const names = verbs.map((verb) => words.verbs[verb] ?? verb);
      objects.set(key, [
        ...(objects.get(key) ?? []),
        words.objects[rule.objectType] ?? rule.objectType,
      ]);
      sentences.set(key, (these) =>
        words.rule(
          isAllowed,
          names,
          conditions ? words.those(these, conditions) : words.all(these),
        ),
      );
    }
  }
  return [...sentences].map(([key, sentence]) =>
    sentence(formatList([...new Set(objects.get(key))])),
  );
}

const ORDER = Object.keys(words.objects);
const rank = ({ objectType }: Constraint): number => ORDER.indexOf(objectType);

/** The conditions of a rule; with both blocks, one that denies needs only one of them. */
function conditionsOf({ criteriaAnd, criteriaOr }: Constraint, isAllowed: boolean): string {
  const all = criteriaAnd.filter((criterion) => !isEverything(criterion)).map(inWords);
  const some = criteriaOr.some(isEverything) ? [] : criteriaOr.map(inWords);
  const either = some.join(words.or);
  const both = all.join(words.and);
  const conditions = isAllowed
    ? [both, all.length > 0 && some.length > 1 ? `(${either})` : either]
    : [both, either];
  return conditions.filter(Boolean).join(isAllowed ? words.and : words.or);
}

const isEverything = (criterion: Criterion): boolean =>
  criterion.operator === 'contains' && valuesOf(criterion).includes(EVERYTHING);

const inWords = (criterion: Criterion): string =>
  words.condition(
    words.fields[criterion.field] ?? criterion.field,
    words.operators[criterion.operator] ?? criterion.operator,
    valuesOf(criterion),
  );
