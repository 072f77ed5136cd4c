/** The state of the find page, all of it in the address: a search is a link. */

export type Choice = string | number | boolean;
export type Op = 'eq' | 'exists' | 'gte' | 'lte';

export interface Condition {
  key: string;
  op: Op;
  value?: string;
}

export interface FindState {
  q?: string;
  /** Chosen values by facet. */
  facets?: Record<string, Choice[]>;
  /** Lower and upper bound, each may be absent. */
  size?: [number | null, number | null];
  date?: [string | null, string | null];
  /** Days on which photographs were taken, by the clocks of their cameras. */
  taken?: [string | null, string | null];
  triangles?: [number | null, number | null];
  meta?: Condition[];
  /** Archived assets are hits too. */
  archived?: true;
  sort?: Sort;
  view?: 'list' | 'map';
}

export const SORTS = ['newest', 'oldest', 'name', 'nameDown', 'database'] as const;
/** One of these, or a field of a column, after `-` from its greatest value. */
export type Sort = string;
const COLUMN_SORT = /^-?(num_filesize|str_fileext|fact_\w+|metadata\..{1,256})$/;
export const OPS: readonly Op[] = ['eq', 'exists', 'gte', 'lte'];

export const FACETS = [
  'str_databaseid',
  'str_fileext',
  'list_tags',
  'fact_format',
  'fact_watertight',
  'fact_unit',
] as const;
export type Facet = (typeof FACETS)[number];

/** Reads a state from an address that anyone may have written: what is not valid is left out. */
export function parseSearch(search: Record<string, unknown>): FindState {
  const state: FindState = {};
  // The router parses a search for 12 as a number.
  if (typeof search.q === 'string' || typeof search.q === 'number') state.q = String(search.q);
  if (!state.q) delete state.q;
  const facets = parseFacets(search.facets);
  if (Object.keys(facets).length) state.facets = facets;
  const size = parseRange(search.size, isNumber);
  if (size) state.size = size;
  const date = parseRange(search.date, isDay);
  if (date) state.date = date;
  const taken = parseRange(search.taken, isDay);
  if (taken) state.taken = taken;
  const triangles = parseRange(search.triangles, isNumber);
  if (triangles) state.triangles = triangles;
  const meta = Array.isArray(search.meta) ? search.meta.filter(isCondition).slice(0, 15) : [];
  if (meta.length) state.meta = meta;
  if (search.archived === true) state.archived = true;
  const { sort } = search;
  if (typeof sort === 'string' && (isNamedSort(sort) || COLUMN_SORT.test(sort))) state.sort = sort;
  if (search.view === 'list' || search.view === 'map') state.view = search.view;
  return state;
}

export const isNamedSort = (sort: Sort): boolean => SORTS.some((name) => name === sort);

/** Without words no asset matches better than another. */
export const defaultSort = ({ q }: FindState): Sort | undefined => (q ? undefined : 'newest');

/** How many filters are chosen: what "Clear all filters" would remove. */
export function countFilters(state: FindState): number {
  const facets = Object.values(state.facets ?? {}).reduce((sum, values) => sum + values.length, 0);
  const ranges = [state.size, state.date, state.taken, state.triangles].filter(Boolean).length;
  return facets + ranges + (state.meta?.length ?? 0) + (state.archived ? 1 : 0);
}

export function withoutFilters({ q, sort, view }: FindState): FindState {
  return { q, sort, view };
}

export function toggleFacet(state: FindState, facet: string, value: Choice): FindState {
  const before = state.facets?.[facet] ?? [];
  const after = before.includes(value)
    ? before.filter((choice) => choice !== value)
    : [...before, value];
  const facets = { ...state.facets, [facet]: after };
  if (!after.length) Reflect.deleteProperty(facets, facet);
  return { ...state, facets: Object.keys(facets).length ? facets : undefined };
}

function parseFacets(value: unknown): Record<string, Choice[]> {
  if (typeof value !== 'object' || value === null) return {};
  const entries = FACETS.flatMap((facet): [string, Choice[]][] => {
    const values: unknown = Reflect.get(value, facet);
    const valid = Array.isArray(values) ? values.filter(isChoice).slice(0, 100) : [];
    return valid.length ? [[facet, valid]] : [];
  });
  return Object.fromEntries(entries);
}

function parseRange<T>(
  value: unknown,
  valid: (bound: unknown) => bound is T,
): [T | null, T | null] | null {
  if (!Array.isArray(value) || value.length !== 2) return null;
  const [from, to] = value.map((bound: unknown) => (valid(bound) ? bound : null));
  return from == null && to == null ? null : [from ?? null, to ?? null];
}

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);

const isDay = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);

/** The last moment of a day; a date with a time stays as it is. */
export const endOfDay = (value: string): string => (isDay(value) ? `${value}T23:59:59.999` : value);

const isChoice = (value: unknown): value is Choice =>
  typeof value === 'boolean' || isNumber(value) || (typeof value === 'string' && value !== '');

function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null || !('key' in value) || !('op' in value)) {
    return false;
  }
  const text = 'value' in value ? value.value : undefined;
  return (
    typeof value.key === 'string' &&
    value.key !== '' &&
    OPS.some((op) => op === value.op) &&
    (text === undefined || typeof text === 'string')
  );
}
