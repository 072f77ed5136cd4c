import { keepChoice, readChoice } from './choices';
import { createStore } from './createStore';
import { readList, storeList } from './tabStorage';

/**
 * The columns of the list of hits beside the name, as the user chose them: parts of every card,
 * facts as `fact_triangles`, and metadata as `metadata.material`.
 */
const CHOSEN = ['database', 'type', 'size', 'tags', 'changed'];
export const MOST_COLUMNS = 8;
const KEPT = 'vitrine-columns';
const STORED = 'vitrine.columns';

const readColumns = (): string[] =>
  readList(STORED, (column) => typeof column === 'string') ?? readChoice(KEPT) ?? CHOSEN;

export const columns = createStore(readColumns());

/** Remembers the columns; those of metadata, whose keys are the user's, end with the tab. */
export function setColumns(next: string[]): void {
  storeList(STORED, next);
  keepChoice(
    KEPT,
    next.filter((column) => !column.startsWith('metadata.')),
  );
  columns.set(next);
}

/** Reads the columns again when a user has signed out. */
export const resetColumns = (): void => columns.set(readColumns());

/** The fields of documents that the columns need beside those of a card. */
export function columnFields(): string[] {
  const fields = columns
    .current()
    .filter((column) => /^(fact_|metadata\.)/.test(column))
    .map((column) =>
      column.startsWith('fact_') ? `AB_.${column}` : column.replace('metadata', 'MD_'),
    );
  return fields.length ? [...fields, 'AB_.fact_unit'] : fields;
}
