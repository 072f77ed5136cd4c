import { useId, useState, type SyntheticEvent } from 'react';
import { columns, MOST_COLUMNS, setColumns } from '../../api/columns';
import { useStore } from '../../api/createStore';
import { columnTexts, columnsTexts } from '../../texts/columns';
import { CloseButton, Dialog } from '../../ui/Dialog';
import { FACTS } from '../../ui/facts';
import { KeyInput } from '../../ui/KeyInput';
import { UserText } from '../../ui/UserText';
import { columnLabel } from './columnLabels';

const METADATA = 'metadata.';
const OWN = Object.keys(columnTexts).filter((column) => column !== 'name');

/** Chooses the columns of the list, which change at once. */
export function ColumnsDialog({ onClose }: { onClose: () => void }) {
  const chosen = useStore(columns);
  const groups = [
    [columnsTexts.own, OWN],
    [columnsTexts.facts, FACTS.map(({ key }) => key)],
    [columnsTexts.metadata, chosen.filter((column) => column.startsWith(METADATA))],
  ] as const;
  const toggle = (column: string) =>
    setColumns(
      chosen.includes(column) ? chosen.filter((other) => other !== column) : [...chosen, column],
    );
  const isFull = chosen.length >= MOST_COLUMNS;
  return (
    <Dialog title={columnsTexts.title} onClose={onClose}>
      <p>{columnsTexts.help}</p>
      {groups.map(([legend, of]) => (
        <fieldset key={legend} className="field columns">
          <legend>{legend}</legend>
          {of.map((column) => (
            <label key={column} className="check">
              <input
                type="checkbox"
                checked={chosen.includes(column)}
                disabled={isFull && !chosen.includes(column)}
                onChange={() => toggle(column)}
              />
              <UserText text={columnLabel(column)} />
            </label>
          ))}
        </fieldset>
      ))}
      <KeyForm
        isFull={isFull}
        onAdd={(key) => chosen.includes(METADATA + key) || toggle(METADATA + key)}
      />
      <div className="acts">
        <CloseButton text={columnsTexts.done} />
      </div>
    </Dialog>
  );
}

/** Adds a key of metadata; keys that exist are offered. */
function KeyForm({ isFull, onAdd }: { isFull: boolean; onAdd: (key: string) => void }) {
  const id = useId();
  const [key, setKey] = useState('');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (key.trim()) onAdd(key.trim());
    setKey('');
  };
  return (
    <form className="inline" onSubmit={submit}>
      <label htmlFor={id}>{columnsTexts.key}</label>
      <KeyInput id={id} value={key} onChange={({ target }) => setKey(target.value)} />
      <button type="submit" disabled={isFull}>
        {columnsTexts.add}
      </button>
    </form>
  );
}
