import { errorText } from '../../api/errors';
import type { Card } from '../../api/hits';
import {
  readMetadata,
  typeOf,
  writeMetadata,
  type ValueType,
  type WriteOutcome,
} from '../asset/metadataQueries';
import type { RowChange, SheetRow } from './sheet';

const AT_ONCE = 8;

/** Does something with several values at a time; `onDone` reports the progress. */
async function inParallel<T, R>(
  values: readonly T[],
  act: (value: T) => Promise<R>,
  onDone: (done: number) => void = () => undefined,
): Promise<R[]> {
  const results: R[] = [];
  let [next, done] = [0, 0];
  const work = async () => {
    while (next < values.length) {
      const at = next++;
      results[at] = await act(values[at] as T);
      onDone((done += 1));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** Reads the metadata of assets; one that cannot be read says why. */
export const readSheet = (
  cards: readonly Pick<Card, 'id' | 'databaseId' | 'assetId' | 'name'>[],
  signal: AbortSignal,
  onDone: (done: number) => void,
): Promise<SheetRow[]> =>
  inParallel(
    cards,
    ({ id, databaseId, assetId, name }) => {
      signal.throwIfAborted();
      const place = { databaseId, assetId };
      return readRow({ id, place, name, fields: new Map(), failure: '' });
    },
    onDone,
  );

export const readRows = (rows: readonly SheetRow[]): Promise<SheetRow[]> =>
  inParallel(rows, readRow);

async function readRow(row: SheetRow): Promise<SheetRow> {
  try {
    const { fields } = await readMetadata(row.place);
    return { ...row, fields: new Map(fields.map((field) => [field.key, field])), failure: '' };
  } catch (error) {
    return { ...row, failure: errorText(error) };
  }
}

/** What became of the changes of a row. */
export type Outcome = RowChange & WriteOutcome;

/** Sends the changes of several assets in one request. */
export async function writeRows(
  changes: readonly RowChange[],
  typeOfColumn: (key: string) => ValueType,
): Promise<Outcome[]> {
  const outcomes = await writeMetadata(
    changes.map(({ row, edits }) => ({
      place: row.place,
      values: edits.map(({ key, value, before }) => {
        const field = row.fields.get(key);
        return { key, value, before, type: field ? typeOf(field) : typeOfColumn(key) };
      }),
    })),
  );
  return outcomes.flatMap((outcome, at) => {
    const change = changes[at];
    return change ? [{ ...change, ...outcome }] : [];
  });
}
