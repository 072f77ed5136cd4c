/**
 * A spreadsheet would calculate a text that begins so; an apostrophe makes it a text. One that has
 * apostrophes there already gets another, so that reading takes away just what writing added.
 */
const FORMULA = /^'*[=+\-@\t\r]/;
const MARKED = /^'+[=+\-@\t\r]/;
const isNumber = (text: string): boolean => /^[+-]?\d+(\.\d+)?$/.test(text);

function cell(value: string): string {
  const text = FORMULA.test(value) && !isNumber(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as RFC 4180 has it, with a mark by which spreadsheets know its letters. */
export const toCsv = (rows: readonly (readonly string[])[]): string =>
  `\uFEFF${rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`;

export interface CsvLine {
  /** The line of the file on which it begins, from 1. */
  line: number;
  cells: string[];
}

/** A place of a file that is no CSV. */
export class CsvError extends Error {
  constructor(
    readonly line: number,
    readonly column: number,
    /** The lines before it. */
    readonly before: readonly CsvLine[],
  ) {
    super(`line ${line}, column ${column}`);
  }
}

const END = /\r\n|\n|\r/y;

/** Reads what `toCsv` and spreadsheets write: also with semicolons, as some languages have it. */
export function parseCsv(file: string): CsvLine[] {
  const text = file.startsWith('\uFEFF') ? file.slice(1) : file;
  const [head = ''] = text.split(/[\r\n]/, 1);
  const separator = head.includes(';') && !head.includes(',') ? ';' : ',';
  const plain = new RegExp(`[^${separator}\r\n"]*`, 'y');
  const quoted = /"([^"]*(?:""[^"]*)*)"/y;
  const lines: CsvLine[] = [];
  let [at, line] = [0, 1];
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match && (match[1] ?? match[0]);
  };
  while (at < text.length) {
    const cells: string[] = [];
    const begin = line;
    do {
      const isQuoted = text[at] === '"';
      const raw = take(isQuoted ? quoted : plain);
      if (raw === null) throw new CsvError(begin, cells.length + 1, lines);
      if (isQuoted) line += (raw.match(/\r\n|\n|\r/g) ?? []).length;
      const value = isQuoted ? raw.replaceAll('""', '"') : raw;
      cells.push(MARKED.test(value) ? value.slice(1) : value);
    } while (text[at] === separator && ++at);
    if (at < text.length && take(END) === null) throw new CsvError(begin, cells.length, lines);
    line += 1;
    if (cells.length > 1 || cells[0]) lines.push({ line: begin, cells });
  }
  return lines;
}
