import { formatNumber, pluralize } from './formats';

const assets = (number: number) => pluralize(number, 'asset', 'assets');
const values = (number: number) => pluralize(number, 'value', 'values');

export const sheetTexts = {
  edit: 'Edit metadata',
  title: (number: number) => `Metadata of ${assets(number)}`,
  none: 'No assets are selected. Select some in a search to edit their metadata together.',
  tooMany: (number: number, most: number) =>
    `${assets(number)} are selected; a table has at most ${formatNumber(most)}.`,
  search: 'To the search',
  reading: (done: number, of: number) => `Reading ${formatNumber(done)} of ${assets(of)}…`,
  asset: 'Asset',
  key: 'Key',
  all: 'All assets',
  several: 'Several values',
  ofAll: (key: string) => `${key} of all assets`,
  keys: 'Arrow keys move, Enter or typing edits, Escape takes the typing back, Delete empties.',
  empty: 'These assets have no metadata yet. Add a key.',
  addKey: 'Add a key',
  add: 'Add',
  addNew: 'New key',
  /** What is to be saved. */
  changes: (cells: number, rows: number) => `${values(cells)} of ${assets(rows)} to save`,
  noChanges: 'Nothing has been changed.',
  wholeDate: (cell: string) => `${cell}: Enter a whole date.`,
  preview: 'What changes',
  before: 'Before',
  after: 'After',
  nothing: 'no value',
  removed: 'removed',
  more: (number: number) => `And ${values(number)} more.`,
  save: 'Save',
  saving: (done: number, of: number) => `Saving ${formatNumber(done)} of ${assets(of)}…`,
  discard: 'Discard',
  saved: (cells: number, rows: number) => `${values(cells)} of ${assets(rows)} saved`,
  savedPart: (cells: number, left: number) =>
    `${values(cells)} saved; ${values(left)} could not be saved`,
  conflicts: 'Someone else has changed these values meanwhile',
  conflictsHelp: 'Choose which to keep; yours are written when you save again.',
  mine: 'Yours',
  theirs: 'Theirs',
  keepMine: 'Keep yours',
  useTheirs: 'Use theirs',
  allMine: 'Keep all of yours',
  allTheirs: 'Use all of theirs',
  refused: 'These values were not accepted',
  unread: 'These assets cannot be read',
  leave: 'Your changes of the metadata are not saved. Leave without saving them?',
  csv: {
    save: 'Save as CSV',
    read: 'Read a CSV file',
    fileName: 'metadata.csv',
    done: (cells: number) =>
      cells ? `${values(cells)} changed by the file` : 'The file changes nothing',
    problems: 'The file was not read. Correct these lines, and choose it again.',
    line: (line: number, column: string) =>
      column ? `Line ${formatNumber(line)}, column ${column}` : `Line ${formatNumber(line)}`,
    tooLarge: (bytes: string, most: string) =>
      `The file has ${bytes}; at most ${most} are read at once. Select fewer assets, and use a file for each selection.`,
    notUtf8: 'The file is not UTF-8. Save it as “CSV UTF-8”.',
    quotes: 'A quotation mark is not closed, or is within a text without quotation marks.',
    noIds: (names: string) => `The columns ${names} are missing.`,
    cells: (cells: number, columns: number) =>
      `It has ${pluralize(cells, 'cell', 'cells')} for ${pluralize(columns, 'column', 'columns')}.`,
    unknown: (assetId: string) => `The asset ${assetId} is not in this table.`,
    twice: 'The asset has a line already.',
    key: 'A key has 1 to 256 characters.',
    keyTwice: 'The key has a column already.',
    choice: (choices: string) => `It must be one of ${choices}.`,
    number: 'It must be a decimal number.',
    boolean: 'It must be true or false.',
    date: 'It must be an ISO 8601 date, such as 2026-01-31.',
    json: 'It must be JSON.',
  },
} as const;
