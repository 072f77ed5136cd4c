import type { components } from '../../api/schema';
import { accessTexts } from '../../texts/access';

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

/** What a role allows and denies, a sentence a rule. */
export function sentencesOf(constraints: readonly Constraint[], grantee: Grantee): string[] {
  const rules = rulesOf(constraints, grantee);
  const sentences = rules
    .filter((rule) => !isOfRequests(rule))
    .flatMap((rule) => ruleSentences(rule, grantee));
  const requests = rules.filter(isOfRequests);
  if (!requests.some(({ objectType }) => objectType === 'api')) return [words.ineffective];
  return [...sentences, words.requests(requests.length)];
}

/** What the rules of a role deny, in sentences. */
export const denialsOf = (constraints: readonly Constraint[], grantee: Grantee): string[] =>
  rulesOf(constraints, grantee).flatMap((rule) => ruleSentences(rule, grantee, ['deny']));

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

function ruleSentences(
  rule: Constraint,
  grantee: Grantee,
  types: readonly string[] = ['allow', 'deny'],
): string[] {
  const effects = effectsOf(rule, grantee);
  return types.flatMap((type) => {
    const verbs = Object.keys(words.verbs).filter((verb) =>
      effects.some(
        ({ permission, permissionType }) => permission === verb && permissionType === type,
      ),
    );
    if (!verbs.length) return [];
    const names = verbs.map((verb) => words.verbs[verb] ?? verb);
    return [words.rule(type === 'allow', names, objectsOf(rule, type === 'allow'))];
  });
}

/** The objects of a rule; with both blocks, one that denies needs only one of them. */
function objectsOf({ objectType, criteriaAnd, criteriaOr }: Constraint, isAllowed: boolean) {
  const objects = words.objects[objectType] ?? objectType;
  const all = criteriaAnd.filter((criterion) => !isEverything(criterion)).map(inWords);
  const some = criteriaOr.some(isEverything) ? [] : criteriaOr.map(inWords);
  const either = some.join(words.or);
  const both = all.join(words.and);
  const conditions = isAllowed
    ? [both, all.length > 0 && some.length > 1 ? `(${either})` : either]
    : [both, either];
  const joined = conditions.filter(Boolean).join(isAllowed ? words.and : words.or);
  return joined ? words.those(objects, joined) : words.all(objects);
}

const isEverything = (criterion: Criterion): boolean =>
  criterion.operator === 'contains' && valuesOf(criterion).includes(EVERYTHING);

const inWords = (criterion: Criterion): string =>
  words.condition(
    words.fields[criterion.field] ?? criterion.field,
    words.operators[criterion.operator] ?? criterion.operator,
    valuesOf(criterion),
  );
