import { typeOf, type MetadataField, type ValueChange, type ValueType } from './metadataQueries';

/** A key with its value as someone edits them. */
export interface Row extends MetadataField {
  id: number;
  /** What was stored when it was read last; null for a new key. */
  before: { value: string; type: ValueType } | null;
  isRemoved: boolean;
  /** What someone else has written meanwhile; a null value if they removed it. */
  theirs?: { value: string | null; type: ValueType };
}

export interface Changes {
  changed: Row[];
  removed: Row[];
}

export const toRows = (fields: readonly MetadataField[]): Row[] =>
  fields.map((field, id) => ({
    ...field,
    id,
    before: { value: field.value, type: field.type },
    isRemoved: false,
  }));

export const newRow = (rows: readonly Row[]): Row => ({
  id: Math.max(-1, ...rows.map((row) => row.id)) + 1,
  key: '',
  value: '',
  type: 'string',
  isStored: false,
  schema: null,
  before: null,
  isRemoved: false,
});

const isChanged = ({ before, value, type }: Row): boolean =>
  before === null || before.value !== value || before.type !== type;

export function findChanges(rows: readonly Row[]): Changes {
  return {
    changed: rows.filter((row) => !row.isRemoved && isChanged(row)),
    removed: rows.filter((row) => row.isRemoved),
  };
}

/** What is to be written of a draft. */
export function toValues(rows: readonly Row[]): ValueChange[] {
  const { changed, removed } = findChanges(rows);
  return [...changed, ...removed].map((row) => ({
    key: row.key,
    value: row.isRemoved ? null : row.value,
    type: typeOf(row),
    before: row.before && row.isStored ? row.before.value : null,
  }));
}

/** The rows that cannot be sent, with the reason of each. */
export function findMistakes(
  rows: readonly Row[],
  words: { emptyKey: string; twice: string },
): ReadonlyMap<number, string> {
  const mistakes = new Map<number, string>();
  const keys = new Set(rows.flatMap(({ before, key }) => (before ? [key] : [])));
  for (const { id, key, before } of rows) {
    if (before) continue;
    if (!key) mistakes.set(id, words.emptyKey);
    else if (keys.has(key)) mistakes.set(id, words.twice);
    keys.add(key);
  }
  return mistakes;
}

/**
 * The rows on what is stored by now: values of others where the user has changed nothing, and both
 * values where both have changed a key.
 */
export function mergeRows(rows: readonly Row[], stored: readonly MetadataField[]): Row[] {
  const now = new Map(stored.map((field) => [field.key, field]));
  const merged = rows.flatMap((row): Row[] => {
    const field = now.get(row.key);
    now.delete(row.key);
    const isMine = row.isRemoved || isChanged(row);
    if (!isMine) return field ? [{ ...row, ...field, before: field }] : [];
    if (!field) {
      // A new key is not there for anyone else either.
      if (!row.before) return [{ ...row, theirs: undefined }];
      if (row.isRemoved) return [];
      return [{ ...row, before: null, theirs: { value: null, type: row.type } }];
    }
    const isSame = row.before?.value === field.value && row.before.type === field.type;
    const isMet = !row.isRemoved && row.value === field.value && row.type === field.type;
    const theirs = isSame || isMet ? undefined : { value: field.value, type: field.type };
    return [{ ...row, schema: field.schema, isStored: field.isStored, before: field, theirs }];
  });
  const next = newRow(rows).id;
  return [...merged, ...toRows([...now.values()]).map((row) => ({ ...row, id: row.id + next }))];
}

/** The keys whose schemas are others by now, of which nothing may have been known. */
export function changedSchemas(rows: readonly Row[], merged: readonly Row[]): string[] {
  const before = new Map(rows.map(({ key, schema }) => [key, JSON.stringify(schema)]));
  return merged.flatMap(({ key, schema, value }) => {
    // A key that appears is of interest if a value of it is needed.
    const known = before.get(key) ?? JSON.stringify(schema?.isRequired && !value ? null : schema);
    return known === JSON.stringify(schema) ? [] : [key];
  });
}

/** The row with what someone else has written; null if they removed it. */
export function takeTheirs(row: Row): Row | null {
  if (!row.theirs || row.theirs.value === null) return null;
  const { value, type } = row.theirs;
  return { ...row, value, type, isRemoved: false, theirs: undefined };
}
