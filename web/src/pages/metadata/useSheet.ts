import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { errorText } from '../../api/errors';
import { sheetTexts } from '../../texts/sheet';
import { toast } from '../../ui/Toasts';
import { useLatestState } from '../../ui/useLatestState';
import {
  columnsOf,
  listEdits,
  mergeEdits,
  toRequests,
  withoutWritten,
  withTexts,
  writtenRow,
  type CellText,
  type Column,
  type Edits,
  type SheetRow,
} from './sheet';
import { readRows, writeRows, type Outcome } from './sheetQueries';

const words = sheetTexts;

/** A row that was refused for a reason of no single key. */
export interface RowRefusal {
  row: SheetRow;
  message: string;
}

const NO_EDITS: Edits = new Map();

/** A table of assets: what is stored, what was typed, and how it is saved. */
export function useSheet(read: readonly SheetRow[]) {
  const cache = useQueryClient();
  const [rows, setRows, latestRows] = useLatestState(read);
  const [edits, setEdits, latestEdits] = useLatestState(NO_EDITS);
  const [added, setAdded] = useState<readonly Column[]>([]);
  const [refusals, setRefusals] = useState<readonly RowRefusal[]>([]);
  const [failure, setFailure] = useState('');
  const [progress, setProgress] = useState<number | null>(null);
  const columns = useMemo(() => columnsOf(rows, added), [rows, added]);
  const typeOfColumn = (key: string) =>
    columns.find((column) => column.key === key)?.type ?? 'string';
  const replaceRows = (next: readonly SheetRow[]) => {
    const byId = new Map(next.map((row) => [row.id, row]));
    setRows(latestRows.current.map((row) => byId.get(row.id) ?? row));
  };
  /** Shows what was written, and what is stored by now where something was refused. */
  const settle = async (outcomes: readonly Outcome[]) => {
    const done = outcomes.filter(({ isDone }) => isDone);
    const refused = outcomes.filter(({ isDone }) => !isDone);
    for (const { row, edits: written } of done)
      setEdits(withoutWritten(latestEdits.current, row, written));
    replaceRows(done.map(({ row, edits: written }) => writtenRow(row, written, typeOfColumn)));
    const now = await readRows(refused.map(({ row }) => row));
    refused.forEach(({ row, refusals: reasons }, at) => {
      const fresh = now[at];
      if (fresh) setEdits(mergeEdits(latestEdits.current, row, fresh, reasons));
    });
    replaceRows(now);
    return refused.flatMap(({ row, message }) => (message ? [{ row, message }] : []));
  };
  const save = async () => {
    const requests = toRequests(rows, edits);
    const total = requests.flat().flatMap((change) => change.edits).length;
    setFailure('');
    setRefusals([]);
    setProgress(0);
    let [saved, sentRows] = [0, 0];
    const rest: RowRefusal[] = [];
    try {
      for (const request of requests) {
        const outcomes = await writeRows(request, typeOfColumn);
        rest.push(...(await settle(outcomes)));
        saved += outcomes.flatMap(({ isDone, edits: sent }) => (isDone ? sent : [])).length;
        setProgress((sentRows += request.length));
      }
      const done = new Set(requests.flat().map(({ row }) => row.id)).size;
      toast(saved === total ? words.saved(saved, done) : words.savedPart(saved, total - saved));
    } catch (error) {
      // What became of this request is not known; it may be sent again.
      setFailure(errorText(error));
    }
    setRefusals(rest);
    setProgress(null);
    for (const name of ['asset', 'search']) void cache.invalidateQueries({ queryKey: [name] });
  };
  return {
    rows,
    columns,
    edits,
    changes: listEdits(rows, edits),
    refusals,
    failure,
    /** The number of assets that are saved; null if none is being saved. */
    progress,
    save,
    setFailure,
    setEdits,
    setTexts: (cells: readonly CellText[]) => setEdits(withTexts(latestEdits.current, cells)),
    addColumns: (next: readonly Column[]) => setAdded((before) => [...before, ...next]),
    discard: () => {
      setEdits(NO_EDITS);
      setRefusals([]);
      setFailure('');
    },
    hasEdits: () => latestEdits.current.size > 0,
  };
}

export type Sheet = ReturnType<typeof useSheet>;
