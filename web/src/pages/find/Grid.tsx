import { useWindowVirtualizer } from '@tanstack/react-virtual';
import {
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import { InlineError } from '../../ui/InlineError';
import { lazyComponent } from '../../ui/lazyComponent';
import { AssetCard } from './cards';
import type { Card } from '../../api/hits';
import { PAGE } from './searchBody';
import { cardsBetween, pageOfIndex, usePages, type Page } from './useSearch';
import type { FindState } from './findState';

const AssetRow = lazyComponent(() => import('./AssetRow'), 'AssetRow');
const GAP = 14;
const SMALLEST = 172;
const TEXT = 98;
const ROW = 60;

interface Layout {
  columns: number;
  /** Between rows, as a part of their height. */
  gap: number;
  width: number;
  height: number;
}

interface GridProps {
  state: FindState;
  /** The first one; that of the search before until the next is there. */
  page: Page;
  total: number;
  selected: ReadonlySet<string>;
  onSelect: ((cards: Card[]) => void) | undefined;
  onQuickLook: (index: number) => void;
}

/** Hits in a grid or a list, of which only the rows near the window are in the document. */
export function Grid(props: GridProps) {
  const { state, page, total, onQuickLook, onSelect } = props;
  const list = state.view === 'list';
  const host = useRef<HTMLUListElement>(null);
  const { layout, top } = useLayout(host, list);
  const [active, setActive] = useState(0);
  const { virtual, indexes, first, last, start } = useVisibleRows(layout, top, total);
  const { at, failed } = useCards(state, page, first, last);
  const current = Math.min(active, total - 1);
  const focusOn = useFocusOn(host, (index) =>
    virtual.scrollToIndex(Math.floor(index / layout.columns)),
  );
  const select = useSelect(state, at, onSelect);
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = nextIndex(event.key, current, layout.columns, total);
    const card = at(current);
    if (target !== null) {
      event.preventDefault();
      setActive(target);
      focusOn(target);
    } else if (event.key === ' ' && card && event.target instanceof HTMLAnchorElement) {
      event.preventDefault();
      onQuickLook(current);
    } else if (event.key.toLowerCase() === 'x') {
      event.preventDefault();
      select(current, event.shiftKey);
    }
  };
  const Item = list ? AssetRow : AssetCard;
  return (
    <>
      <ul
        ref={host}
        className={list ? 'hits list' : 'hits'}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKey}
      >
        {indexes.map((index) => {
          const row = Math.floor((index - first) / layout.columns);
          const card = at(index);
          return (
            <GridItem
              key={index}
              index={index}
              total={total}
              layout={layout}
              column={(index - first) % layout.columns}
              y={start - top + row * layout.height}
              onFocus={() => setActive(index)}
            >
              {card && (
                <Item
                  card={card}
                  tabbable={index === current}
                  selected={props.selected.has(card.id)}
                  selecting={props.selected.size > 0}
                  onSelect={onSelect && ((range) => select(index, range))}
                  onQuickLook={() => onQuickLook(index)}
                />
              )}
            </GridItem>
          );
        })}
      </ul>
      {failed && (
        <div className="unloaded">
          <InlineError query={failed} />
        </div>
      )}
    </>
  );
}

/** The rows near the window, and the places of their first and last hits. */
function useVisibleRows(layout: Layout, top: number, total: number) {
  const rows = Math.ceil(total / layout.columns);
  const virtual = useWindowVirtualizer({
    count: rows,
    estimateSize: () => layout.height,
    overscan: 3,
    scrollMargin: top,
  });
  useLayoutEffect(() => virtual.measure(), [layout.height, layout.columns, virtual]);
  const inView = virtual.getVirtualItems();
  const first = (inView[0]?.index ?? 0) * layout.columns;
  const last = Math.min(((inView.at(-1)?.index ?? 0) + 1) * layout.columns, total) - 1;
  const indexes = useMemo(
    () => (total ? Array.from({ length: last - first + 1 }, (_, at) => first + at) : []),
    [first, last, total],
  );
  return { virtual, indexes, first, last, start: inView[0]?.start ?? top };
}

const WAITING = <span className="card waiting" />;

/** A hit at its place; an empty one until its page is loaded. */
function GridItem(props: {
  index: number;
  total: number;
  layout: Layout;
  column: number;
  y: number;
  onFocus: () => void;
  children: ReactNode;
}) {
  const { index, layout, column, y } = props;
  return (
    <li
      data-index={index}
      aria-setsize={props.total}
      aria-posinset={index + 1}
      style={{
        transform: `translate(${column * (layout.width + GAP)}px, ${y}px)`,
        width: layout.width,
        height: layout.height - layout.gap,
      }}
      onFocus={props.onFocus}
    >
      <Suspense fallback={WAITING}>{props.children ?? WAITING}</Suspense>
    </li>
  );
}

/** The loaded hits by their places. */
function useCards(state: FindState, page: Page, first: number, last: number) {
  const { pages, failed } = usePages(state, pagesBetween(first, last));
  const at = useCallback(
    (index: number): Card | undefined => {
      const at = pageOfIndex(index);
      return (pages.get(at) ?? (at === 0 ? page : undefined))?.cards[index % PAGE];
    },
    [pages, page],
  );
  return { at, failed };
}

/** Selects the hit at a place; with `range`, all from the one that was selected before. */
function useSelect(
  state: FindState,
  at: (index: number) => Card | undefined,
  onSelect: ((cards: Card[]) => void) | undefined,
) {
  const anchor = useRef(0);
  return (index: number, range: boolean) => {
    const only = at(index);
    const cards = range ? cardsBetween(state, anchor.current, index) : null;
    anchor.current = index;
    if (only) onSelect?.(cards ?? [only]);
  };
}

function pagesBetween(first: number, last: number): number[] {
  const [from, to] = [pageOfIndex(first), pageOfIndex(Math.max(first, last))];
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

/** The place that a key leads to, or null for a key that does not move. */
function nextIndex(key: string, from: number, columns: number, total: number): number | null {
  const steps: Record<string, number> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: columns * 4,
    PageUp: -columns * 4,
  };
  if (key === 'Home') return 0;
  if (key === 'End') return total - 1;
  const step = steps[key];
  if (step === undefined) return null;
  return Math.max(0, Math.min(total - 1, from + step));
}

function useLayout(host: React.RefObject<HTMLUListElement | null>, list: boolean) {
  const [size, setSize] = useState({ width: 1000, top: 0 });
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const measure = () => {
      const box = element.getBoundingClientRect();
      const next = { width: Math.floor(box.width), top: Math.round(box.top + scrollY) };
      setSize((before) => (before.width === next.width && before.top === next.top ? before : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [host]);
  const layout = useMemo((): Layout => {
    if (list) return { columns: 1, gap: 0, width: size.width, height: ROW };
    const smallest = size.width < 420 ? 140 : SMALLEST;
    const columns = Math.max(1, Math.floor((size.width + GAP) / (smallest + GAP)));
    const width = Math.floor((size.width - GAP * (columns - 1)) / columns);
    return { columns, gap: GAP, width, height: width + TEXT + GAP };
  }, [size.width, list]);
  return { layout, top: size.top };
}

/** Focuses a place that may not be in the document yet. */
function useFocusOn(
  host: React.RefObject<HTMLUListElement | null>,
  reveal: (index: number) => void,
) {
  const waiting = useRef<number | null>(null);
  const focus = () => {
    if (waiting.current === null) return;
    const link = host.current?.querySelector<HTMLElement>(`[data-index="${waiting.current}"] a`);
    if (!link) return;
    waiting.current = null;
    link.focus({ preventScroll: true });
    link.closest('li')?.scrollIntoView({ block: 'nearest' });
  };
  useEffect(focus);
  return (index: number) => {
    waiting.current = index;
    if (!host.current?.querySelector(`[data-index="${index}"] a`)) reveal(index);
    requestAnimationFrame(focus);
  };
}
