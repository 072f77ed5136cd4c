import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useId, useState, type SyntheticEvent } from 'react';
import { databasesQuery } from '../../api/queries';
import { databasesTexts } from '../../texts/databases';
import { editTexts } from '../../texts/edit';
import { uploadTexts } from '../../texts/upload';
import { toast } from '../../ui/Toasts';
import { useFormError } from '../../ui/useFormError';
import { useLatestState } from '../../ui/useLatestState';
import { FormButtons, ConflictNotice } from '../asset/AssetEditor';
import { databaseQuery, saveDescription, type Database } from './queries';

const words = databasesTexts;

function keep(cache: QueryClient, next: Database): void {
  cache.setQueryData(databaseQuery(next.databaseId).queryKey, next);
  void cache.invalidateQueries({ queryKey: databasesQuery.queryKey });
}

/** The description, edited in place. What was typed is kept whatever the server says. */
export function DescriptionEditor({
  database,
  onClose,
}: {
  database: Database;
  onClose: () => void;
}) {
  const id = useId();
  const cache = useQueryClient();
  const [stored, setStored] = useState(database);
  const [text, show, latest] = useLatestState(database.description);
  const [conflict, setConflict] = useState(false);
  const [busy, setBusy] = useState(false);
  const { fieldProps, showError, showApiError, clearError, message } = useFormError();
  const isChanged = text.trim() !== stored.description;
  useBlocker({
    shouldBlockFn: () => isChanged && !confirm(words.leave),
    enableBeforeUnload: () => isChanged,
  });
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    if (text.trim().length < 4) {
      showError(uploadTexts.shortDescription, 'description');
      return;
    }
    clearError();
    setBusy(true);
    try {
      const done = await saveDescription(stored, text.trim());
      const now = 'saved' in done ? done.saved : done.theirs;
      keep(cache, now);
      // Also if someone else has written the same.
      const isSaved = now.description === text.trim();
      if (isSaved && latest.current === text) {
        toast(editTexts.saved);
        onClose();
        return;
      }
      if (isSaved) toast(editTexts.savedFirst);
      setStored(now);
      setConflict(!isSaved);
      setBusy(false);
    } catch (error) {
      setBusy(false);
      showApiError(error);
    }
  };
  return (
    <form className="stack editor" onSubmit={(event) => void submit(event)} aria-label={words.edit}>
      {conflict && (
        <p className="notice" role="alert">
          {words.other}
        </p>
      )}
      <label htmlFor={id}>{uploadTexts.description}</label>
      <textarea
        id={id}
        dir="auto"
        rows={4}
        maxLength={256}
        autoFocus
        {...fieldProps('description')}
        value={text}
        onChange={(event) => show(event.target.value)}
      />
      {conflict && (
        <ConflictNotice
          value={stored.description}
          onTake={() => {
            show(stored.description);
            setConflict(false);
          }}
        />
      )}
      {message}
      <FormButtons disabled={busy || !isChanged} onCancel={onClose} />
    </form>
  );
}
