import { useId, useRef, useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { sheetTexts } from '../../texts/sheet';
import { saveFile } from '../../ui/saveFile';
import { toast } from '../../ui/Toasts';
import { NewKey } from '../asset/NewKey';
import { importCsv, readCsvFile, sheetCsv, type Problem } from './sheetCsv';
import { withTexts, type Column } from './sheet';
import type { Sheet } from './useSheet';

const words = sheetTexts;
const NEW: Column = { key: '', type: 'string' };

/** New keys, and the table as a file. */
export function SheetTools({ sheet }: { sheet: Sheet }) {
  const [isAdding, setAdding] = useState(false);
  const [problems, setProblems] = useState<readonly Problem[]>([]);
  const [failure, setFailure] = useState('');
  const add = useRef<HTMLButtonElement>(null);
  const { rows, columns, edits } = sheet;
  const read = async (file: File) => {
    setFailure('');
    setProblems([]);
    try {
      const imported = importCsv(await readCsvFile(file), rows, columns);
      setProblems(imported.problems);
      if (imported.problems.length) return;
      const before = count(edits);
      const next = withTexts(edits, imported.cells);
      sheet.addColumns(imported.columns);
      sheet.setEdits(next);
      toast(words.csv.done(Math.max(0, count(next) - before)));
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <>
      <div className="acts">
        <button ref={add} type="button" aria-expanded={isAdding} onClick={() => setAdding(true)}>
          {words.addKey}
        </button>
        <button
          type="button"
          onClick={() => saveFile(csvOf(sheetCsv(rows, columns, edits)), words.csv.fileName)}
        >
          {words.csv.save}
        </button>
        <CsvButton onChoose={(file) => void read(file)} disabled={sheet.progress !== null} />
      </div>
      {isAdding && (
        <NewColumn
          onClose={(column) => {
            setAdding(false);
            if (column) sheet.addColumns([column]);
            add.current?.focus();
          }}
        />
      )}
      <div role="alert">
        {failure && <p className="failure">{failure}</p>}
        {problems.length > 0 && <Problems problems={problems} />}
      </div>
    </>
  );
}

const count = (edits: Sheet['edits']) =>
  [...edits.values()].reduce((total, own) => total + own.size, 0);
const csvOf = (text: string) => new Blob([text], { type: 'text/csv' });

function CsvButton(props: { disabled: boolean; onChoose: (file: File) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" disabled={props.disabled} onClick={() => input.current?.click()}>
        {words.csv.read}
      </button>
      <input
        ref={input}
        type="file"
        accept=".csv,text/csv"
        hidden
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file) props.onChoose(file);
          // The same file can be chosen again once it is corrected.
          currentTarget.value = '';
        }}
      />
    </>
  );
}

function NewColumn({ onClose }: { onClose: (column: Column | null) => void }) {
  const id = useId();
  const [column, setColumn] = useState(NEW);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (column.key) onClose(column);
  };
  return (
    <form className="new-key" aria-label={words.addNew} onSubmit={submit}>
      <NewKey
        id={id}
        keyName={column.key}
        type={column.type}
        onChange={(next) => setColumn({ ...column, ...next })}
      />
      <div className="acts">
        <button type="submit" className="primary" disabled={!column.key}>
          {words.add}
        </button>
        <button type="button" onClick={() => onClose(null)}>
          {texts.cancel}
        </button>
      </div>
    </form>
  );
}

const Problems = ({ problems }: { problems: readonly Problem[] }) => (
  <div className="notice">
    <p className="failure">{words.csv.problems}</p>
    <ul tabIndex={0} className="names">
      {problems.map(({ line, column, message }, at) => (
        <li key={at}>
          <strong>{words.csv.line(line, visibleName(column))}</strong>: {message}
        </li>
      ))}
    </ul>
  </div>
);
