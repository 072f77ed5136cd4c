import { texts } from '../../texts';
import { columnTexts } from '../../texts/export';
import { defaultSort, type FindState, type Sort } from './findState';

/** The sorts of a column, of which a press chooses the next; others cannot be sorted by. */
const HEADS: [keyof typeof columnTexts, readonly Sort[]][] = [
  ['name', ['name', 'nameDown']],
  ['database', ['database']],
  ['type', []],
  ['size', []],
  ['tags', []],
  ['changed', ['newest', 'oldest']],
];
const ARROWS: Partial<Record<Sort, string>> = { nameDown: '▾', newest: '▾' };

/** The names of the columns of the list, by which it is sorted. */
export function ListHeads(props: { state: FindState; onSort: (sort: Sort) => void }) {
  const shown = props.state.sort ?? defaultSort(props.state);
  return (
    <div className="row heads" role="group" aria-label={texts.find.sort}>
      <span className="box" />
      <span />
      {HEADS.map(([column, sorts]) => {
        const at = sorts.findIndex((sort) => sort === shown);
        const next = sorts[(at + 1) % sorts.length];
        const className = column === 'name' ? 'line' : `wide${column === 'size' ? ' number' : ''}`;
        return (
          <span key={column} className={className}>
            {next ? (
              <button
                type="button"
                className="quiet small"
                aria-pressed={at >= 0}
                onClick={() => props.onSort(next)}
              >
                {columnTexts[column]} {at >= 0 && shown && (ARROWS[shown] ?? '▴')}
              </button>
            ) : (
              columnTexts[column]
            )}
          </span>
        );
      })}
    </div>
  );
}
