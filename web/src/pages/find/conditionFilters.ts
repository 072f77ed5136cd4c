import { ApiError, withFieldMessages } from '../../api/errors';
import type { components } from '../../api/schema';
import { filtersTexts } from '../../texts/filters';
import { FACT_PREFIX, factByKey, keyLabel, type FactType } from '../../ui/facts';
import { endOfDay, OPS, type Condition, type Op } from './findState';

type Filter = components['schemas']['MetadataFilter'];

const DAY = /^\d{4}-\d\d-\d\d/;
const isNumber = (value: string): boolean => value.trim() !== '' && Number.isFinite(Number(value));
const isOrder = (op: Op): boolean => op === 'gte' || op === 'lte';

/** The operators for values of a type; metadata has values of any type. */
export const opsOf = (type: FactType | undefined): readonly Op[] =>
  type === 'string' || type === 'boolean' ? OPS.filter((op) => !isOrder(op)) : OPS;

/** Why a condition cannot be searched for; null if it can. */
export function problemOf({ key, op, value = '' }: Condition): string | null {
  const words = filtersTexts;
  const fact = factByKey(key);
  if (!fact && key.startsWith(FACT_PREFIX)) return words.noFact(key);
  if (op === 'exists') return null;
  const label = keyLabel(key);
  if (!opsOf(fact?.type).includes(op)) return words.needsText(label);
  if (fact?.type === 'number' && !isNumber(value)) return words.needsNumber(label);
  if (fact?.type === 'date' && !DAY.test(value)) return words.needsDate(label);
  if (fact?.type === 'boolean' && !/^(true|false)$/.test(value)) return words.needsTruth(label);
  const isCompared = isNumber(value) || DAY.test(value);
  return !fact && isOrder(op) && !isCompared ? words.needsOrder(label) : null;
}

/** The filter of a condition: a fact has its type, and metadata that of the value. */
export function filterOf({ key, op, value = '' }: Condition): Filter {
  if (op === 'exists') return { key, op, value: true };
  const guessed = isNumber(value) ? 'number' : DAY.test(value) ? 'date' : 'string';
  const type = factByKey(key)?.type ?? guessed;
  if (type === 'number') return { key, op, value: Number(value), type };
  if (type === 'date' && op === 'eq') {
    return { key, op: 'between', value: [value, endOfDay(value)], type };
  }
  if (type === 'date' && op === 'lte') return { key, op, value: endOfDay(value), type };
  return { key, op, value: type === 'boolean' ? value === 'true' : value, type };
}

/** The filters of conditions; an address may have some that no form would send. */
export function filtersOf(conditions: readonly Condition[]): Filter[] {
  const [problem] = conditions.flatMap((condition) => problemOf(condition) ?? []);
  if (problem !== undefined) throw new ApiError(400, 'InvalidInput', problem);
  return conditions.map(filterOf);
}

/** A refusal of the server, with the names of the conditions that it is about. */
export function ofConditions(error: ApiError, filters: readonly Filter[]): ApiError {
  return withFieldMessages(error, (field, fact, isPredicate) => {
    const at = /^metadataFilters\.(\d+)\./.exec(field)?.[1];
    const key = at === undefined ? undefined : filters[Number(at)]?.key;
    if (key === undefined) return null;
    const { onCondition, ofCondition } = filtersTexts;
    return (isPredicate ? onCondition : ofCondition)(keyLabel(key), fact);
  });
}
