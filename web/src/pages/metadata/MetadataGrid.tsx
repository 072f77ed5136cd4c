import { memo, useId, type CSSProperties } from 'react';
import { visibleName } from '../../texts/formats';
import { sheetTexts } from '../../texts/sheet';
import { UserText } from '../../ui/UserText';
import { ValueInput } from '../asset/ValueInput';
import { GridRow, HEADS } from './GridRow';
import { cellText, type Column, type SheetRow } from './sheet';
import { useCells } from './useCells';
import type { Sheet } from './useSheet';

const words = sheetTexts;

/** Assets and keys, of which only the rows near the window are in the document. */
export function MetadataGrid({ sheet }: { sheet: Sheet }) {
  const { rows, columns, edits, setTexts } = sheet;
  const { host, virtual, place, isBusy, onClick, onKeyDown } = useCells(sheet);
  return (
    <>
      <p className="hidden" id="sheet-keys">
        {words.keys}
      </p>
      <div
        ref={host}
        className="grid"
        role="grid"
        aria-label={words.title(rows.length)}
        aria-describedby="sheet-keys"
        aria-rowcount={rows.length + HEADS}
        aria-colcount={columns.length + 1}
        aria-busy={isBusy}
        style={{ '--keys': columns.length } as CSSProperties}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <div className="rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
          <Heads columns={columns} />
          <AllRows sheet={sheet} />
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            return (
              row && (
                <GridRow
                  key={row.id}
                  row={row}
                  index={index}
                  y={start}
                  columns={columns}
                  edits={edits.get(row.id)}
                  column={place.row === index ? place.column : undefined}
                  before={place.row === index && !isBusy ? place.before : null}
                  onTexts={setTexts}
                />
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

const Heads = memo(({ columns }: { columns: readonly Column[] }) => (
  <div className="row heads" role="row" aria-rowindex={1}>
    <span role="columnheader" className="name">
      {words.asset}
    </span>
    {columns.map(({ key }) => (
      <span key={key} role="columnheader" title={visibleName(key)}>
        <UserText text={key} line />
      </span>
    ))}
  </div>
));
Heads.displayName = 'Heads';

/** Cells whose text goes to every asset. */
const AllRows = memo(function AllRows({ sheet }: { sheet: Sheet }) {
  const id = useId();
  const { rows, columns, edits } = sheet;
  const writable = rows.filter(({ failure }) => !failure);
  return (
    <div className="row all-rows" role="row" aria-rowindex={HEADS}>
      <span role="rowheader" className="name">
        {words.all}
      </span>
      {columns.map(({ key, type }, at) => {
        const values = new Set(writable.map((row) => cellText(edits, row, key)));
        const [first = ''] = values;
        const isSame = values.size <= 1;
        const choices = choicesOfAll(writable, key);
        return (
          <span key={key} role="gridcell">
            <ValueInput
              id={`${id}-${at}`}
              // In one line, whatever the type is.
              type={type === 'boolean' || type === 'number' || type === 'date' ? type : 'string'}
              value={isSame ? first : ''}
              before={first}
              choices={choices}
              attributes={{
                'aria-label': words.ofAll(visibleName(key)),
                placeholder: isSame ? undefined : words.several,
                disabled: sheet.progress !== null,
              }}
              onChange={(text) => sheet.setTexts(writable.map((row) => ({ row, key, text })))}
            />
          </span>
        );
      })}
    </div>
  );
});

/** The choices that every asset has. */
function choicesOfAll(rows: readonly SheetRow[], key: string): readonly string[] {
  const [first = [], ...others] = rows.map(({ fields }) => fields.get(key)?.schema?.choices ?? []);
  return first.filter((choice) => others.every((choices) => choices.includes(choice)));
}
