import { VALUE_TYPES, type MetadataField, type ValueType } from '../asset/metadataQueries';
import { formatBytes, formatList, visibleName } from '../../texts/formats';
import { sheetTexts } from '../../texts/sheet';
import { CsvError, parseCsv, toCsv, type CsvLine } from '../../ui/csv';
import { cellText, type CellText, type Column, type Edits, type SheetRow } from './sheet';

const words = sheetTexts.csv;
const IDS = ['databaseId', 'assetId', 'asset'] as const;
/** The browser reads a file at once. */
const MOST_BYTES = 10_000_000;
const MOST_PROBLEMS = 100;

/** The table as it is shown; a heading has the key and its type. */
export const sheetCsv = (
  rows: readonly SheetRow[],
  columns: readonly Column[],
  edits: Edits,
): string =>
  toCsv([
    [...IDS, ...columns.map(({ key, type }) => `${key}:${type}`)],
    ...rows.map((row) => [
      row.place.databaseId,
      row.place.assetId,
      row.name,
      ...columns.map(({ key }) => cellText(edits, row, key)),
    ]),
  ]);

/** What is wrong at a place of a file. */
export interface Problem {
  line: number;
  /** The heading of the column; '' if it is about the line. */
  column: string;
  message: string;
}

export interface Imported {
  cells: CellText[];
  /** Those of the file, of which some may be new. */
  columns: Column[];
  problems: Problem[];
}

/** The text of a file that someone chose; throws a sentence if it cannot be read. */
export async function readCsvFile(file: File): Promise<string> {
  if (file.size > MOST_BYTES)
    throw new Error(words.tooLarge(formatBytes(file.size), formatBytes(MOST_BYTES)));
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      await file.arrayBuffer(),
    );
  } catch {
    throw new Error(words.notUtf8);
  }
}

/** The cells that a CSV changes in a table of these assets. With a problem, none should be used. */
export function importCsv(
  text: string,
  rows: readonly SheetRow[],
  known: readonly Column[],
): Imported {
  const imported: Imported = { cells: [], columns: [], problems: [] };
  const fail = (line: number, column: string, message: string) => {
    if (imported.problems.length < MOST_PROBLEMS) imported.problems.push({ line, column, message });
  };
  let lines: CsvLine[];
  try {
    lines = parseCsv(text);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    fail(error.line, String(error.column), words.quotes);
    return imported;
  }
  const [head, ...body] = lines;
  const headings = head?.cells ?? [];
  const places = IDS.slice(0, 2).map((name) => headings.indexOf(name));
  const keys = readHeadings(headings, known, (column, message) => fail(1, column, message));
  imported.columns = keys.filter((column) => column !== null);
  if (places.includes(-1)) fail(1, '', words.noIds(formatList(IDS.slice(0, 2))));
  if (imported.problems.length) return imported;
  const byPlace = new Map(rows.map((row) => [placeKey(row.place), row]));
  const seen = new Set<SheetRow>();
  for (const { line, cells } of body) {
    if (cells.length !== headings.length) {
      fail(line, '', words.cells(cells.length, headings.length));
      continue;
    }
    const [databaseId = '', assetId = ''] = places.map((at) => cells[at]);
    const row = byPlace.get(placeKey({ databaseId, assetId }));
    if (!row || seen.has(row) || row.failure) {
      const message = row ? row.failure || words.twice : words.unknown(visibleName(assetId));
      fail(line, 'assetId', message);
      continue;
    }
    seen.add(row);
    keys.forEach((column, at) => {
      if (!column) return;
      const value = cells[at] ?? '';
      const problem = valueProblem(row.fields.get(column.key), column.type, value);
      if (problem) fail(line, column.key, problem);
      imported.cells.push({ row, key: column.key, text: value });
    });
  }
  return imported;
}

const placeKey = ({ databaseId, assetId }: SheetRow['place']) => `${databaseId}/${assetId}`;

/** The column of each heading; null for those that name the asset. */
function readHeadings(
  headings: readonly string[],
  known: readonly Column[],
  fail: (column: string, message: string) => void,
): (Column | null)[] {
  const keys = new Set<string>();
  return headings.map((heading) => {
    if (IDS.some((name) => name === heading)) return null;
    const [, name = heading, suffix] = /^(.*):(\w+)$/su.exec(heading) ?? [];
    const type = VALUE_TYPES.find((known) => known === suffix);
    const key = type ? name : heading;
    if (!key || key.length > 256) fail(heading, words.key);
    if (keys.has(key)) fail(heading, words.keyTwice);
    keys.add(key);
    const column = known.find((other) => other.key === key);
    return { key, type: column?.type ?? type ?? 'string' };
  });
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const DATE = /^\d{4}-?(\d\d-?\d\d|\d{3}|W\d\d(-?\d)?)(T[\d:.,Z+-]+)?$/;

/** What would be refused for certain; the server knows the rest. */
function valueProblem(
  field: MetadataField | undefined,
  typeOfColumn: ValueType,
  value: string,
): string {
  const type = field ? (field.schema?.type ?? field.type) : typeOfColumn;
  const choices = field?.schema?.choices ?? [];
  if (!value) return '';
  if (choices.length && !choices.includes(value)) return words.choice(formatList(choices));
  switch (type) {
    case 'number':
      return NUMBER.test(value) ? '' : words.number;
    case 'boolean':
      return /^(true|false)$/i.test(value) ? '' : words.boolean;
    case 'date':
      return DATE.test(value) ? '' : words.date;
    case 'string':
    case 'multiline_string':
    case 'inline_controlled_list':
      return '';
    default:
      return isJson(value) ? '' : words.json;
  }
}

function isJson(value: string): boolean {
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
