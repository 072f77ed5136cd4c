import type { Place } from '../../api/downloads';
import { compareNames } from '../../texts/formats';
import {
  MOST_OF_ENTITY,
  typeOf,
  type MetadataField,
  type ValueType,
} from '../asset/metadataQueries';

/** An asset with its metadata, as it was read last. */
export interface SheetRow {
  id: string;
  place: Place;
  name: string;
  fields: ReadonlyMap<string, MetadataField>;
  /** Why it cannot be read or changed; '' if it can. */
  failure: string;
}

export interface Column {
  key: string;
  type: ValueType;
}

/** What someone typed into a cell. */
export interface Edit {
  /** Null removes the key. */
  value: string | null;
  /** What someone else has written meanwhile, until the user has chosen; null if they removed it. */
  theirs?: { value: string | null };
  /** Why the server did not accept it. */
  refusal?: string;
}

export type RowEdits = ReadonlyMap<string, Edit>;
/** By the ids of rows and by keys; no row is without one. */
export type Edits = ReadonlyMap<string, RowEdits>;

/** A cell by its row and key, and the text in it. */
export interface CellText {
  row: SheetRow;
  key: string;
  text: string;
}

export interface CellEdit extends Edit {
  row: SheetRow;
  key: string;
  before: string | null;
}

/** The keys of schemas as they order them, then other keys by name, then new ones. */
export function columnsOf(rows: readonly SheetRow[], added: readonly Column[]): Column[] {
  const [ofSchemas, others] = [new Map<string, Column>(), new Map<string, Column>()];
  for (const { fields } of rows)
    for (const field of fields.values()) {
      const of = field.schema ? ofSchemas : others;
      if (!of.has(field.key)) of.set(field.key, { key: field.key, type: typeOf(field) });
    }
  const known = [
    ...ofSchemas.values(),
    ...[...others.values()]
      .filter(({ key }) => !ofSchemas.has(key))
      .sort((a, b) => compareNames(a.key, b.key)),
  ];
  const keys = new Set(known.map(({ key }) => key));
  return [...known, ...added.filter(({ key }) => !keys.has(key))];
}

/** The stored value; null if there is no record. */
export function storedValue({ fields }: SheetRow, key: string): string | null {
  const field = fields.get(key);
  return field?.isStored ? field.value : null;
}

/** The text of a cell. */
export const cellText = (edits: Edits, row: SheetRow, key: string): string =>
  (edits.get(row.id)?.get(key) ?? { value: storedValue(row, key) }).value ?? '';

/** The edits with other texts in some cells; an emptied key of no schema is removed. */
export function withTexts(edits: Edits, cells: readonly CellText[]): Edits {
  const next = new Map(edits);
  const copied = new Map<string, Map<string, Edit>>();
  for (const { row, key, text } of cells) {
    const stored = storedValue(row, key);
    const value = text || (stored !== null && row.fields.get(key)?.schema ? '' : null);
    const own = copied.get(row.id) ?? new Map(edits.get(row.id));
    copied.set(row.id, own);
    if (value === stored) own.delete(key);
    else own.set(key, { value });
    if (own.size) next.set(row.id, own);
    else next.delete(row.id);
  }
  return next;
}

/** Every edit with its row and the value before it, in the order of the rows. */
export const listEdits = (rows: readonly SheetRow[], edits: Edits): CellEdit[] =>
  rows.flatMap((row) =>
    [...(edits.get(row.id) ?? [])].map(([key, edit]) => ({
      ...edit,
      row,
      key,
      before: storedValue(row, key),
    })),
  );

/** What one request changes at one asset. */
export interface RowChange {
  row: SheetRow;
  edits: CellEdit[];
}

const MOST_ROWS = 50;
const MOST_VALUES = 1_000;

/** The changes of each request, within the limits of the server; conflicts wait for a choice. */
export function toRequests(rows: readonly SheetRow[], edits: Edits): RowChange[][] {
  const requests: RowChange[][] = [];
  let values = 0;
  for (const row of rows) {
    const own = listEdits([row], edits).filter(({ theirs }) => !theirs);
    for (let at = 0; at < own.length; at += MOST_OF_ENTITY) {
      const part = own.slice(at, at + MOST_OF_ENTITY);
      const last = requests.at(-1);
      const fits =
        at === 0 && last && last.length < MOST_ROWS && values + part.length <= MOST_VALUES;
      if (fits) last.push({ row, edits: part });
      else requests.push([{ row, edits: part }]);
      values = (fits ? values : 0) + part.length;
    }
  }
  return requests;
}

/** A row with what was written. */
export function writtenRow(row: SheetRow, written: readonly CellEdit[], column: Typed): SheetRow {
  const fields = new Map(row.fields);
  for (const { key, value } of written) {
    const field = fields.get(key);
    if (value !== null)
      fields.set(key, {
        key,
        schema: field?.schema ?? null,
        type: field ? typeOf(field) : column(key),
        value,
        isStored: true,
      });
    else if (field?.schema) fields.set(key, { ...field, value: '', isStored: false });
    else fields.delete(key);
  }
  return { ...row, fields };
}

type Typed = (key: string) => ValueType;

/** The edits without those that are stored as they are. */
export function withoutWritten(edits: Edits, row: SheetRow, written: readonly CellEdit[]): Edits {
  const own = new Map(edits.get(row.id));
  for (const { key, value } of written) if (own.get(key)?.value === value) own.delete(key);
  const next = new Map(edits);
  if (own.size) next.set(row.id, own);
  else next.delete(row.id);
  return next;
}

/** The edits of a row on what is stored by now; `refusals` are the server's words by key. */
export function mergeEdits(
  edits: Edits,
  before: SheetRow,
  now: SheetRow,
  refusals: ReadonlyMap<string, string>,
): Edits {
  const own = new Map<string, Edit>();
  for (const [key, edit] of edits.get(before.id) ?? []) {
    const stored = storedValue(now, key);
    if (edit.value === stored) continue;
    const isChanged = stored !== storedValue(before, key);
    const refusal = refusals.get(key);
    const theirs = isChanged ? { value: stored } : edit.theirs;
    own.set(key, { value: edit.value, ...(theirs && { theirs }), ...(refusal && { refusal }) });
  }
  const next = new Map(edits);
  if (own.size) next.set(before.id, own);
  else next.delete(before.id);
  return next;
}

/** The edits after a choice between both values of a cell. */
export function resolve(edits: Edits, row: SheetRow, key: string, keepsMine: boolean): Edits {
  const mine = edits.get(row.id)?.get(key);
  if (!mine) return edits;
  const own = new Map(edits.get(row.id));
  if (keepsMine) own.set(key, { value: mine.value });
  else own.delete(key);
  const next = new Map(edits);
  if (own.size) next.set(row.id, own);
  else next.delete(row.id);
  return next;
}
