import { columns } from '../../api/columns';
import { useStore } from '../../api/createStore';
import { texts } from '../../texts';
import { UserText } from '../../ui/UserText';
import { columnLabel, isNumeric } from './columnLabels';
import { defaultSort, type FindState, type Sort } from './findState';

/** The sorts of a column, of which a press chooses the next; others cannot be sorted by. */
const SORTS_OF: Record<string, readonly Sort[]> = {
  name: ['name', 'nameDown'],
  database: ['database'],
  type: ['str_fileext', '-str_fileext'],
  size: ['-num_filesize', 'num_filesize'],
  files: [],
  tags: [],
  changed: ['newest', 'oldest'],
};
const DOWN = /^(-|nameDown$|newest$)/;

/** Of numbers, the greatest are looked for first. */
const sortsOf = (column: string): readonly Sort[] =>
  SORTS_OF[column] ?? (isNumeric(column) ? [`-${column}`, column] : [column, `-${column}`]);

/** The names of the columns of the list, by which it is sorted. */
export function ListHeads(props: { state: FindState; onSort: (sort: Sort) => void }) {
  const shown = props.state.sort ?? defaultSort(props.state) ?? '';
  const chosen = useStore(columns);
  return (
    <div className="row heads" role="group" aria-label={texts.find.sort}>
      <span className="box" />
      <span />
      {['name', ...chosen].map((column) => {
        const sorts = sortsOf(column);
        const at = sorts.indexOf(shown);
        const next = sorts[(at + 1) % sorts.length];
        const label = <UserText text={columnLabel(column)} />;
        const ofColumn = column === 'name' ? '' : ` wide${isNumeric(column) ? ' number' : ''}`;
        return (
          <span key={column} className={`line${ofColumn}`} title={columnLabel(column)}>
            {next ? (
              <button
                type="button"
                className="quiet small"
                aria-pressed={at >= 0}
                onClick={() => props.onSort(next)}
              >
                {label} {at >= 0 && (DOWN.test(shown) ? '▾' : '▴')}
              </button>
            ) : (
              label
            )}
          </span>
        );
      })}
    </div>
  );
}
