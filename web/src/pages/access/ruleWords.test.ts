import { expect, test } from 'vitest';
import { denialsOf, isAbout, sentencesOf, type Constraint } from './ruleWords';

const ROLE = { kind: 'role', name: 'readers' } as const;
const criterion = (field: string, operator: string, value: string | string[]) => ({
  field,
  operator,
  value,
});
const rule = (objectType: string, effects: string, more: Partial<Constraint> = {}) =>
  ({
    constraintId: objectType,
    name: objectType,
    description: 'x',
    objectType,
    criteriaAnd: [],
    criteriaOr: [],
    groupPermissions: effects.split(' ').map((effect) => {
      const [permission = '', permissionType = 'allow'] = effect.split(':');
      return { groupId: ROLE.name, permission, permissionType };
    }),
    userPermissions: [],
    ...more,
  }) as unknown as Constraint;

const EVERYTHING = [criterion('databaseId', 'contains', '.*')];
const API = rule('api', 'GET', { criteriaOr: [criterion('route__path', 'contains', '.*')] });

test.each([
  [rule('asset', 'PUT GET', { criteriaAnd: EVERYTHING }), 'May see and change all assets'],
  [
    rule('database', 'GET', { criteriaOr: [criterion('databaseId', 'is_one_of', ['a', 'b'])] }),
    'May see databases whose database is one of a, b',
  ],
  [
    rule('asset', 'GET DELETE:deny', {
      criteriaAnd: [criterion('databaseId', 'equals', 'a')],
      criteriaOr: [criterion('tags', 'equals', 'x'), criterion('tags', 'starts_with', 'y')],
    }),
    'May see assets whose database is a and (tag is x or tag begins with y)',
    'May not delete assets whose database is a or tag is x or tag begins with y',
  ],
])('%# is said in words', (constraint, ...sentences) => {
  const requests = '1 rule about pages and requests, which this needs';
  expect(sentencesOf([constraint, API], ROLE)).toEqual([...sentences, requests]);
});

test('objects of the same conditions are in one sentence, assets first', () => {
  const criteriaAnd = [criterion('databaseId', 'equals', 'a')];
  const rules = ['workflow', 'database', 'asset'].map((type) => rule(type, 'GET', { criteriaAnd }));
  expect(sentencesOf([...rules, API], ROLE)[0]).toBe(
    'May see assets, databases, and workflows whose database is a',
  );
});

test('a role without rules on requests changes what others allow, and one of others is not counted', () => {
  const nothing = ['Nothing: no rule of this role allows requests.'];
  const effects = rule('asset', 'GET PUT:deny', { criteriaAnd: EVERYTHING });
  expect(sentencesOf([effects], ROLE)).toEqual([
    expect.stringMatching(/^Nothing alone: /),
    'May see all assets',
    'May not change all assets',
  ]);
  expect(sentencesOf([API], { kind: 'role', name: 'other' })).toEqual(nothing);
  expect(sentencesOf([API], { kind: 'user', name: 'readers' })).toEqual(nothing);
});

test('what is denied, and what a role is about, follow from its own rules', () => {
  const deny = rule('asset', 'GET:deny', { criteriaAnd: [criterion('tags', 'equals', 'x')] });
  const allow = rule('database', 'GET', { criteriaAnd: [criterion('databaseId', 'equals', 'a')] });
  expect(denialsOf([deny, allow], ROLE)).toEqual(['May not see assets whose tag is x']);
  expect(isAbout([deny, allow], ROLE, 'a')).toBe(true);
  expect(isAbout([deny, allow], ROLE, 'b')).toBe(false);
});
