import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useMemo, useRef, type CSSProperties } from 'react';
import { formatBytes, visibleName } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { CsvError, parseCsv, type CsvLine } from '../ui/csv';
import { fileName } from '../ui/fileKinds';
import { Poster, type ViewProps } from './Poster';
import { useText } from './useText';

const words = viewerTexts.table;

const MOST_BYTES = 20_000_000;
/** Browsers cannot scroll a higher element. */
const MOST_ROWS = 500_000;
const MOST_COLUMNS = 100;
/** The height of a row, as the stylesheet has it. */
const ROW = 30;
/** Characters of a column. */
const [NARROW, WIDE] = [4, 40];
/** Rows by which the widths of columns are chosen. */
const SAMPLE = 200;

/** A CSV as a table, of which only the rows near the window are in the document. */
export function TableView(props: ViewProps) {
  const { content, poster } = useText(props, MOST_BYTES);
  const table = useMemo(() => content && readTable(content.text, content.isCut), [content]);
  if (!content || !table) return <Poster {...props} {...poster} />;
  const name = fileName(props.file.path);
  const notes = [
    table.problem,
    !content.isCertain && viewerTexts.notUtf8,
    content.isCut && viewerTexts.textCut(formatBytes(MOST_BYTES)),
    table.rows.length > MOST_ROWS && words.rowsCut(MOST_ROWS, table.rows.length),
    table.columns > MOST_COLUMNS && words.columnsCut(MOST_COLUMNS, table.columns),
  ].filter(Boolean);
  return (
    <div className="csv">
      {table.rows.length > 0 && <Rows name={name} table={table} />}
      <p className="faint" role="status">
        {[words.size(Math.max(0, table.rows.length - 1), table.columns), ...notes].join(' ')}
      </p>
    </div>
  );
}

interface Table {
  rows: readonly (readonly string[])[];
  columns: number;
  /** Why the rest of the file is not in the table. */
  problem: string;
}

function readTable(text: string, isCut: boolean): Table {
  // The last line may be a part of one.
  const whole = isCut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
  let [lines, problem]: [readonly CsvLine[], string] = [[], ''];
  try {
    lines = parseCsv(whole);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // What is before the wrong line is shown.
    lines = error.before;
    problem = words.broken(error.line, error.column);
  }
  const rows = lines.map(({ cells }) => cells);
  return { rows, columns: rows.reduce((most, row) => Math.max(most, row.length), 0), problem };
}

function Rows({ name, table }: { name: string; table: Table }) {
  const host = useRef<HTMLDivElement>(null);
  const [head = [], ...body] = useMemo(() => table.rows.slice(0, MOST_ROWS + 1), [table]);
  const columns = Math.min(table.columns, MOST_COLUMNS);
  // eslint-disable-next-line react-hooks/incompatible-library -- nothing keeps its functions
  const virtual = useVirtualizer({
    count: body.length,
    getScrollElement: () => host.current,
    estimateSize: () => ROW,
    paddingStart: ROW,
    overscan: 8,
  });
  const widths = useMemo(() => widthsOf(table.rows, columns), [table, columns]);
  return (
    <div
      ref={host}
      className="cells"
      role="table"
      aria-label={name}
      aria-rowcount={body.length + 1}
      aria-colcount={table.columns}
      tabIndex={0}
      style={{ '--columns': widths } as CSSProperties}
    >
      <div role="rowgroup" style={{ height: virtual.getTotalSize() }}>
        <Row cells={head} columns={columns} index={0} y={0} isHead />
        {virtual.getVirtualItems().map(({ index, start }) => (
          <Row
            key={index}
            cells={body[index] ?? []}
            columns={columns}
            index={index + 1}
            y={start}
          />
        ))}
      </div>
    </div>
  );
}

const Row = memo(function Row(props: {
  cells: readonly string[];
  columns: number;
  index: number;
  y: number;
  isHead?: boolean;
}) {
  const { cells, index, isHead, y } = props;
  return (
    <div
      className={isHead ? 'row head' : 'row'}
      role="row"
      aria-rowindex={index + 1}
      style={isHead ? {} : { transform: `translateY(${y}px)` }}
    >
      {Array.from({ length: props.columns }, (_, at) => {
        const text = visibleName(cells[at] ?? '');
        return (
          <bdi key={at} role={isHead ? 'columnheader' : 'cell'} className="line" title={text}>
            {text}
          </bdi>
        );
      })}
    </div>
  );
});

/** The widths of columns by the longest of their first texts. */
function widthsOf(rows: readonly (readonly string[])[], columns: number): string {
  const sample = rows.slice(0, SAMPLE);
  return Array.from({ length: columns }, (_, at) => {
    const longest = sample.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), NARROW);
    return `${Math.min(WIDE, longest) + 2}ch`;
  }).join(' ');
}
