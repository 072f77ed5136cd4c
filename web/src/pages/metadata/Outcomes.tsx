import { visibleName } from '../../texts/formats';
import { sheetTexts } from '../../texts/sheet';
import { UserText } from '../../ui/UserText';
import { resolve, type CellEdit } from './sheet';
import type { Sheet } from './useSheet';

const words = sheetTexts;

/** Values that someone else has changed meanwhile, each with a choice. */
export function Conflicts({ sheet }: { sheet: Sheet }) {
  const conflicts = sheet.changes.filter(({ theirs }) => theirs);
  if (!conflicts.length) return null;
  const choose = (these: readonly CellEdit[], keepsMine: boolean) =>
    sheet.setEdits(
      these.reduce((edits, { row, key }) => resolve(edits, row, key, keepsMine), sheet.edits),
    );
  return (
    <section className="notice outcomes" aria-label={words.conflicts}>
      <h2 role="alert">{words.conflicts}</h2>
      <p>{words.conflictsHelp}</p>
      <ul>
        {conflicts.map((conflict) => (
          <li key={`${conflict.row.id} ${conflict.key}`}>
            <CellName cell={conflict} />
            <span>
              {words.mine}: <ins>{visibleName(conflict.value ?? words.removed)}</ins>
            </span>
            <span>
              {words.theirs}: <ins>{visibleName(conflict.theirs?.value ?? words.removed)}</ins>
            </span>
            <span className="acts">
              {[true, false].map((keepsMine) => {
                const name = keepsMine ? words.keepMine : words.useTheirs;
                return (
                  <button
                    key={name}
                    type="button"
                    className="small"
                    aria-label={`${name}: ${cellName(conflict)}`}
                    onClick={() => choose([conflict], keepsMine)}
                  >
                    {name}
                  </button>
                );
              })}
            </span>
          </li>
        ))}
      </ul>
      {conflicts.length > 1 && (
        <div className="acts">
          <button type="button" onClick={() => choose(conflicts, true)}>
            {words.allMine}
          </button>
          <button type="button" onClick={() => choose(conflicts, false)}>
            {words.allTheirs}
          </button>
        </div>
      )}
    </section>
  );
}

/** What the server did not accept, in its own words, and assets that cannot be read. */
export function Refusals({ sheet }: { sheet: Sheet }) {
  const cells = sheet.changes.filter(({ refusal, theirs }) => refusal && !theirs);
  const unread = sheet.rows.filter(({ failure }) => failure);
  return (
    <div role="alert">
      {cells.length + sheet.refusals.length > 0 && (
        <div className="notice outcomes">
          <h2>{words.refused}</h2>
          <ul>
            {cells.map((cell) => (
              <li key={`${cell.row.id} ${cell.key}`}>
                <CellName cell={cell} /> <span className="failure">{cell.refusal}</span>
              </li>
            ))}
            {sheet.refusals.map(({ row, message }) => (
              <li key={row.id}>
                <UserText text={row.name} /> <span className="failure">{message}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {unread.length > 0 && (
        <div className="notice outcomes">
          <h2>{words.unread}</h2>
          <ul>
            {unread.map((row) => (
              <li key={row.id}>
                <UserText text={row.name} /> <span className="failure">{row.failure}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

const cellName = ({ row, key }: CellEdit) => `${visibleName(row.name)}, ${visibleName(key)}`;

const CellName = ({ cell }: { cell: CellEdit }) => (
  <strong>
    <UserText text={cell.row.name} />, <UserText text={cell.key} />
  </strong>
);
