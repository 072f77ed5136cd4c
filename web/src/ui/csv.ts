/** A spreadsheet would calculate a text that begins so; an apostrophe makes it a text. */
const FORMULA = /^[=+\-@\t\r]/;
const isNumber = (text: string): boolean => /^[+-]?\d+(\.\d+)?$/.test(text);

function cell(value: string): string {
  const text = FORMULA.test(value) && !isNumber(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as RFC 4180 has it, with a mark by which spreadsheets know its letters. */
export const toCsv = (rows: readonly (readonly string[])[]): string =>
  `\uFEFF${rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')}`;
