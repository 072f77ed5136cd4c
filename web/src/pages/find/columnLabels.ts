import { columnTexts } from '../../texts/columns';
import { factByKey, keyLabel } from '../../ui/facts';

/** What a column is called: of metadata, its key. */
export const columnLabel = (column: string): string =>
  columnTexts[column] ?? keyLabel(column.replace(/^metadata\./, ''));

export const isNumeric = (column: string): boolean =>
  column === 'size' || column === 'files' || factByKey(column)?.type === 'number';
