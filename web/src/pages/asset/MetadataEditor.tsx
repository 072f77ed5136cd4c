import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useRef, useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import type { Place } from '../../api/downloads';
import { visibleName } from '../../texts/formats';
import { metadataTexts } from '../../texts/metadata';
import { partialInputs } from '../../ui/partialInput';
import { toast } from '../../ui/Toasts';
import { useIsOpen } from '../../ui/useIsOpen';
import { useLatestState } from '../../ui/useLatestState';
import { FormButtons } from './AssetEditor';
import {
  changedSchemas,
  findChanges,
  findMistakes,
  mergeRows,
  newRow,
  toRows,
  toValues,
  type Row,
} from './metadataDraft';
import { MetadataRow } from './MetadataRow';
import {
  metadataQuery,
  MOST_OF_ENTITY,
  readMetadata,
  writeMetadata,
  type Metadata,
  type WriteOutcome,
} from './metadataQueries';

const words = metadataTexts;

interface EditorProps {
  place: Place;
  /** Of a file; else the metadata is that of the asset. */
  path: string | undefined;
  metadata: Metadata;
  onClose: () => void;
}

interface Outcome {
  /** What is wrong with single rows, by their ids. */
  refusals: ReadonlyMap<number, string>;
  message: string;
}

const FINE: Outcome = { refusals: new Map(), message: '' };

/** Keys and values, edited in place by their types. What was typed is kept whatever happens. */
export function MetadataEditor(props: EditorProps) {
  const { metadata, path, onClose } = props;
  const draft = useMetadataDraft(props);
  const { rows, show, outcome, busy } = draft;
  const hasSchemas = rows.some(({ schema }) => schema);
  const label = path === undefined ? words.edit : words.editFile;
  const add = useRef<HTMLButtonElement>(null);
  const change = (row: Row, next: Partial<Row> | null) => {
    show(rows.flatMap((other) => (other !== row ? [other] : next ? [{ ...row, ...next }] : [])));
    if (!next) add.current?.focus();
  };
  return (
    <form
      className="stack editor"
      aria-label={label}
      noValidate
      onInput={draft.checkPartial}
      onKeyUp={draft.checkPartial}
      onSubmit={(event) => void draft.submit(event)}
    >
      <fieldset className="stack" disabled={busy}>
        {rows.map((row) => (
          <MetadataRow
            key={row.id}
            row={row}
            refusal={outcome.refusals.get(row.id)}
            onChange={(next) => change(row, next)}
          />
        ))}
        {metadata.isRestricted && hasSchemas ? (
          <p className="help">{words.restricted}</p>
        ) : (
          <div className="acts">
            <button
              ref={add}
              type="button"
              className="small"
              onClick={() => show([...rows, newRow(rows)])}
            >
              {words.addKey}
            </button>
          </div>
        )}
      </fieldset>
      <p className="failure" role="alert">
        {outcome.message}
      </p>
      <FormButtons disabled={busy || !(draft.isChanged || draft.isPartial)} onCancel={onClose} />
    </form>
  );
}

/** What is typed, and how it is saved; what someone else has changed meanwhile is merged. */
function useMetadataDraft({ place, path, metadata, onClose }: EditorProps) {
  const cache = useQueryClient();
  const isOpen = useIsOpen();
  const [rows, show, latest] = useLatestState(() => toRows(metadata.fields));
  const [outcome, setOutcome] = useState(FINE);
  const [busy, setBusy] = useState(false);
  // Of a date that lacks a part, `rows` have the value before: only the field shows it.
  const [isPartial, setPartial] = useState(false);
  const isChanged = hasChanges(rows);
  useBlocker({
    // Another file of the asset has other metadata, and is at the same path.
    shouldBlockFn: ({ current, next }) =>
      (current.pathname !== next.pathname ||
        (path !== undefined && JSON.stringify(current.search) !== JSON.stringify(next.search))) &&
      hasChanges(latest.current) &&
      !confirm(words.leave),
    enableBeforeUnload: () => hasChanges(latest.current),
  });
  /** Shows what is stored by now with what was typed. */
  const merge = async () => {
    const stored = await readMetadata(place, path);
    const merged = mergeRows(latest.current, stored.fields);
    cache.setQueryData(metadataQuery(place, path).queryKey, stored);
    show(merged);
    return merged;
  };
  const save = async (): Promise<Outcome> => {
    const before = latest.current;
    const values = toValues(before);
    try {
      for (let at = 0; at < values.length; at += MOST_OF_ENTITY) {
        const part = values.slice(at, at + MOST_OF_ENTITY);
        const [outcome] = await writeMetadata([{ place, filePath: path, values: part }]);
        if (outcome && !outcome.isDone) return toShown(outcome, before, await merge());
      }
      return FINE;
    } finally {
      void cache.invalidateQueries({ queryKey: metadataQuery(place, path).queryKey });
      void cache.invalidateQueries({ queryKey: ['search'] });
    }
  };
  const checkPartial = ({ currentTarget }: SyntheticEvent<HTMLFormElement>) =>
    setPartial(partialInputs(currentTarget).length > 0);
  const submit = async (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const refusals = new Map([
      ...findMistakes(rows, words),
      ...partialInputs(form).map(({ name }): [number, string] => [Number(name), words.wholeDate]),
    ]);
    setBusy(!refusals.size);
    const next = refusals.size
      ? { refusals, message: '' }
      : await save().catch((error: unknown) => ({ ...FINE, message: errorText(error) }));
    setBusy(false);
    setOutcome(next);
    if (next === FINE) {
      toast(words.saved);
      if (isOpen.current) onClose();
      return;
    }
    // A button that was disabled lost the focus; the message is above it.
    const [invalid, button] = ['[aria-invalid=true]', '[type=submit]'];
    setTimeout(() =>
      (
        form.querySelector<HTMLElement>(invalid) ?? form.querySelector<HTMLElement>(button)
      )?.focus(),
    );
  };
  return { rows, show, outcome, busy, isChanged, isPartial, checkPartial, submit };
}

function hasChanges(rows: readonly Row[]): boolean {
  const { changed, removed } = findChanges(rows);
  return changed.length + removed.length > 0;
}

/** Why nothing was written, at the rows on what is stored by now. */
function toShown(refused: WriteOutcome, before: readonly Row[], merged: readonly Row[]): Outcome {
  if (refused.isConflict || merged.some(({ theirs }) => theirs))
    return { ...FINE, message: words.conflict };
  const renewed = changedSchemas(before, merged);
  if (renewed.length)
    return { ...FINE, message: words.schemaChanged(renewed.map((key) => visibleName(key))) };
  const refusals = merged.flatMap(({ id, key }): [number, string][] => {
    const reason = refused.refusals.get(key);
    return reason === undefined ? [] : [[id, reason]];
  });
  return { refusals: new Map(refusals), message: refused.message };
}
