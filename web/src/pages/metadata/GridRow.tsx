import { Link } from '@tanstack/react-router';
import { memo, useId } from 'react';
import { visibleName } from '../../texts/formats';
import { UserText } from '../../ui/UserText';
import { formatValue, typeOf } from '../asset/metadataQueries';
import { ValueInput } from '../asset/ValueInput';
import { cellText, type CellText, type Column, type RowEdits, type SheetRow } from './sheet';

/** Rows above those of assets: the names of keys, and the cells of all assets. */
export const HEADS = 2;

interface GridRowProps {
  row: SheetRow;
  index: number;
  y: number;
  columns: readonly Column[];
  edits: RowEdits | undefined;
  /** That of the cell with the focus, if it is in this row. */
  column: number | undefined;
  /** What was in that cell before it is edited; null if it is not. */
  before: string | null;
  onTexts: (cells: readonly CellText[]) => void;
}

const SAME = ['row', 'index', 'y', 'columns', 'edits', 'column', 'before'] as const;

/** Rendered again only if something of it is new: there are a thousand. */
export const GridRow = memo(
  function GridRow(props: GridRowProps) {
    const { row, index, columns, edits } = props;
    return (
      <div
        className="row"
        role="row"
        aria-rowindex={index + HEADS + 1}
        style={{ transform: `translateY(${props.y}px)` }}
      >
        <span role="rowheader" className="name">
          <Link to="/databases/$databaseId/assets/$assetId" params={row.place} preload={false}>
            <UserText text={row.name} line title={row.name} />
          </Link>
        </span>
        {columns.map((column, at) => {
          const edit = edits?.get(column.key);
          const isCurrent = props.column === at;
          const isWrong = Boolean(edit?.refusal ?? edit?.theirs);
          const className = [edit && 'changed', isWrong && 'wrong'].filter(Boolean).join(' ');
          return (
            <span
              key={column.key}
              role="gridcell"
              className={className || undefined}
              tabIndex={isCurrent && props.before === null ? 0 : -1}
              data-row={index}
              data-column={at}
              data-current={isCurrent || undefined}
              aria-disabled={row.failure ? true : undefined}
              aria-invalid={isWrong || undefined}
            >
              <CellContent
                {...{ row, column }}
                text={cellText(new Map(edits && [[row.id, edits]]), row, column.key)}
                before={isCurrent ? props.before : null}
                onText={(text) => props.onTexts([{ row, key: column.key, text }])}
              />
            </span>
          );
        })}
      </div>
    );
  },
  // What it calls does not depend on when it was made.
  (before, after) => SAME.every((name) => before[name] === after[name]),
);

function CellContent(props: {
  row: SheetRow;
  column: Column;
  text: string;
  before: string | null;
  onText: (text: string) => void;
}) {
  const { row, column, text, before } = props;
  const id = useId();
  const field = row.fields.get(column.key);
  const type = field ? typeOf(field) : column.type;
  // The default of a schema, which the server fills in.
  const hint = !text && field && !field.isStored ? field.value : '';
  if (before === null)
    return (
      <span className={hint ? 'line faint' : 'line'}>
        {visibleName(formatValue(text || hint, type))}
      </span>
    );
  return (
    <ValueInput
      id={id}
      type={type}
      value={text}
      before={before}
      choices={field?.schema?.choices}
      attributes={{ 'aria-label': `${visibleName(row.name)}, ${visibleName(column.key)}` }}
      onChange={props.onText}
    />
  );
}
