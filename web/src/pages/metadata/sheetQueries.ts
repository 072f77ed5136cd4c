import { api, replyWithHeaders } from '../../api/client';
import { ApiError, errorText, fieldTexts } from '../../api/errors';
import type { Card } from '../../api/hits';
import type { components } from '../../api/schema';
import { recordWrite } from '../../api/writes';
import { typeOf, readMetadata, type ValueType } from '../asset/metadataQueries';
import type { CellEdit, RowChange, SheetRow } from './sheet';

type Result = components['schemas']['EntityResult'];

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
export interface Outcome extends RowChange {
  isDone: boolean;
  /** The server's words about single keys, and about the row. */
  refusals: ReadonlyMap<string, string>;
  message: string;
}

/** Sends the changes of several assets in one request. */
export async function writeRows(
  changes: readonly RowChange[],
  typeOfColumn: (key: string) => ValueType,
): Promise<Outcome[]> {
  const entities = changes.map(({ row, edits }) => {
    const [written, removed] = [[] as CellEdit[], [] as CellEdit[]];
    for (const edit of edits) (edit.value === null ? removed : written).push(edit);
    const metadata = written.map(({ key, value, before }) => {
      const field = row.fields.get(key);
      return {
        metadataKey: key,
        metadataValue: value ?? '',
        metadataValueType: field ? typeOf(field) : typeOfColumn(key),
        expectedValue: before,
      };
    });
    const removals = removed.map(({ key, before }) => ({
      metadataKey: key,
      expectedValue: before ?? '',
    }));
    return { ...row.place, metadata, removals };
  });
  const { data, headers } = await replyWithHeaders(
    api.PUT('/metadata/batch', { body: { entities } }),
  );
  recordWrite(headers);
  return data.results.flatMap((result, at) => {
    const [change, entity] = [changes[at], entities[at]];
    if (!change || !entity) return [];
    const keys = {
      metadata: entity.metadata.map(({ metadataKey }) => metadataKey),
      removals: entity.removals.map(({ metadataKey }) => metadataKey),
    };
    return [{ ...change, isDone: result.status < 400, ...wordsOf(result, keys) }];
  });
}

/** Its errors name keys by their number in the request. */
function wordsOf(result: Result, keys: { metadata: string[]; removals: string[] }) {
  const refusals = new Map<string, string>();
  const rest: string[] = [];
  const error = new ApiError(result.status, result.code ?? '', result.message, result.errors ?? []);
  for (const { field, message } of result.status < 400 ? [] : fieldTexts(error)) {
    const [, list, number] = /^(metadata|removals)\.(\d+)\./.exec(field) ?? [];
    const key = keys[list === 'removals' ? 'removals' : 'metadata'][Number(number ?? NaN)];
    if (key === undefined) rest.push(message);
    else refusals.set(key, message);
  }
  // Both values of a conflict are shown beside each other.
  const isConflict = Boolean(result.conflicts?.length);
  return { refusals, message: isConflict ? '' : [...new Set(rest)].join(' ') };
}
