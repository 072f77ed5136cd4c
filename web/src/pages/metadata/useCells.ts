import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { HEADS } from './GridRow';
import { cellText } from './sheet';
import type { Sheet } from './useSheet';

/** The height of a row, as the stylesheet has it. */
const ROW = 40;

/** The cell that has the focus; while it is edited, what was in it before. */
interface Place {
  row: number;
  column: number;
  before: string | null;
}

/** Which rows are in the document, which cell has the focus, and what keys and clicks do to it. */
export function useCells(sheet: Sheet) {
  const { rows, columns, edits, setTexts } = sheet;
  const host = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place>({ row: 0, column: 0, before: null });
  const isBusy = sheet.progress !== null;
  // eslint-disable-next-line react-hooks/incompatible-library -- nothing keeps its functions
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => host.current,
    estimateSize: () => ROW,
    scrollPaddingStart: ROW * HEADS,
    paddingStart: ROW * HEADS,
    overscan: 4,
    // The cell with the focus is kept, also while it is out of sight.
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), place.row])].sort((a, b) => a - b),
  });
  const shouldFocus = useRef(false);
  useEffect(() => {
    if (!shouldFocus.current) return;
    const cell = host.current?.querySelector<HTMLElement>('[data-current]');
    const input = cell?.querySelector<HTMLElement>('input, select, textarea');
    (input ?? cell)?.focus({ preventScroll: true });
    shouldFocus.current = false;
  });
  const go = (row: number, column: number, before: string | null = null) => {
    const next = {
      row: Math.min(Math.max(row, 0), rows.length - 1),
      column: Math.min(Math.max(column, 0), columns.length - 1),
      before,
    };
    shouldFocus.current = true;
    setPlace(next);
    virtual.scrollToIndex(next.row);
  };
  /** Writes a text into the cell that has the focus. */
  const write = (text: string) => {
    const [row, key] = [rows[place.row], columns[place.column]?.key];
    if (row && key !== undefined && !row.failure && !isBusy) setTexts([{ row, key, text }]);
  };
  const edit = (row: number, column: number) => {
    const [asset, key] = [rows[row], columns[column]?.key];
    if (!asset || key === undefined || asset.failure || isBusy) return;
    go(row, column, cellText(edits, asset, key));
  };
  const onClick = ({ target }: MouseEvent) => {
    const cell = target instanceof Element ? target.closest<HTMLElement>('[data-column]') : null;
    const [row, column] = [Number(cell?.dataset.row), Number(cell?.dataset.column)];
    const isOpen = place.before !== null && place.row === row && place.column === column;
    if (cell && !isOpen) edit(row, column);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof Element && event.target.closest('.all-rows, a')) return;
    const act = keyAct(event, place, sheet);
    if (!act) return;
    event.preventDefault();
    if (act.text !== undefined) write(act.text);
    if (act.isEdit) edit(place.row, place.column);
    else go(place.row + (act.down ?? 0), place.column + (act.right ?? 0));
  };
  return { host, virtual, place, isBusy, onClick, onKeyDown };
}

interface KeyAct {
  isEdit?: boolean;
  text?: string;
  down?: number;
  right?: number;
}

const MOVES: Record<string, KeyAct> = {
  ArrowDown: { down: 1 },
  ArrowUp: { down: -1 },
  ArrowRight: { right: 1 },
  ArrowLeft: { right: -1 },
  PageDown: { down: 10 },
  PageUp: { down: -10 },
  Home: { right: -Infinity },
  End: { right: Infinity },
};

/** What a key does in a cell; null if the browser does it. */
function keyAct(event: KeyboardEvent, place: Place, { rows, columns }: Sheet): KeyAct | null {
  const { key } = event;
  const isCommand = event.ctrlKey || event.metaKey || event.altKey;
  if (place.before === null) {
    if (isCommand) return null;
    if (key === 'Enter' || key === 'F2') return { isEdit: true };
    if (key === 'Delete' || key === 'Backspace') return { text: '' };
    if (key.length === 1 && key !== ' ') {
      // A list or a calendar does not begin with a letter.
      const [row, column] = [rows[place.row], columns[place.column]];
      const field = row?.fields.get(column?.key ?? '');
      const isTyped =
        !field?.schema?.choices.length && !/^(boolean|date)$/.test(column?.type ?? '');
      return { isEdit: true, ...(isTyped && { text: key }) };
    }
    return MOVES[key] ?? null;
  }
  const isText = event.target instanceof HTMLTextAreaElement;
  if (key === 'Escape') return { text: place.before };
  if (key === 'Enter' && (!isText || isCommand)) return { down: event.shiftKey ? -1 : 1 };
  if (key === 'F2') return {};
  if (key !== 'Tab') return null;
  const right = event.shiftKey ? -1 : 1;
  const column = place.column + right;
  return column >= 0 && column < columns.length ? { right } : null;
}
