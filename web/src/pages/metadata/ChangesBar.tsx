import { visibleName } from '../../texts/formats';
import { sheetTexts } from '../../texts/sheet';
import { partialInputs } from '../../ui/partialInput';
import { UserText } from '../../ui/UserText';
import type { CellEdit } from './sheet';
import type { Sheet } from './useSheet';

const words = sheetTexts;
const MOST_SHOWN = 200;

/** What is to be saved, and the way to save it. */
export function ChangesBar({ sheet }: { sheet: Sheet }) {
  const { changes, progress } = sheet;
  const number = new Set(changes.map(({ row }) => row.id)).size;
  const waiting = changes.filter(({ theirs }) => !theirs);
  const save = () => {
    const [partial] = partialInputs(document);
    if (!partial) return void sheet.save();
    sheet.setFailure(words.wholeDate(partial.ariaLabel ?? ''));
    partial.focus();
  };
  return (
    <section className="changes" aria-label={words.preview}>
      <p role="status">
        {progress !== null
          ? words.saving(progress, number)
          : changes.length
            ? words.changes(changes.length, number)
            : words.noChanges}
      </p>
      <p className="failure" role="alert">
        {sheet.failure}
      </p>
      <div className="acts">
        <button
          type="button"
          className="primary"
          disabled={!waiting.length || progress !== null}
          onClick={save}
        >
          {words.save}
        </button>
        <button
          type="button"
          disabled={!changes.length || progress !== null}
          onClick={sheet.discard}
        >
          {words.discard}
        </button>
      </div>
      {changes.length > 0 && <Preview changes={changes} />}
    </section>
  );
}

const Preview = ({ changes }: { changes: CellEdit[] }) => (
  <details className="preview">
    <summary>{words.preview}</summary>
    <div className="scroll" tabIndex={0} role="group" aria-label={words.preview}>
      <table>
        <thead>
          <tr>
            <th scope="col">{words.asset}</th>
            <th scope="col">{words.key}</th>
            <th scope="col">{words.before}</th>
            <th scope="col">{words.after}</th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, MOST_SHOWN).map(({ row, key, before, value }) => (
            <tr key={`${row.id} ${key}`}>
              <th scope="row">
                <UserText text={row.name} />
              </th>
              <td>
                <UserText text={key} />
              </td>
              <td>
                <del>{visibleName(before ?? words.nothing)}</del>
              </td>
              <td>
                <ins>{visibleName(value ?? words.removed)}</ins>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
    {changes.length > MOST_SHOWN && (
      <p className="faint">{words.more(changes.length - MOST_SHOWN)}</p>
    )}
  </details>
);
