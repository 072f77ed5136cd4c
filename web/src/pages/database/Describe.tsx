import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useId, useRef, useState, type SyntheticEvent } from 'react';
import { databases } from '../../api/queries';
import { databasesTexts } from '../../texts/databases';
import { editTexts } from '../../texts/edit';
import { uploadTexts } from '../../texts/upload';
import { say } from '../../ui/Toasts';
import { useRefusal } from '../../ui/useRefusal';
import { SaveOrCancel, Theirs } from '../asset/Editor';
import { databaseOf, describe, type Database } from './queries';

const words = databasesTexts;

/** The description, edited in place. What was typed is kept whatever the server says. */
export function Describe({ database, onClose }: { database: Database; onClose: () => void }) {
  const id = useId();
  const cache = useQueryClient();
  const [stored, setStored] = useState(database);
  const [text, setText] = useState(database.description);
  // As it is once a save has ended: on a slow network, people go on typing meanwhile.
  const latest = useRef(text);
  const show = (next: string) => {
    latest.current = next;
    setText(next);
  };
  const [conflict, setConflict] = useState(false);
  const [busy, setBusy] = useState(false);
  const { marks, refuse, refuseBy, accept, message } = useRefusal();
  const isChanged = text.trim() !== stored.description;
  useBlocker({
    shouldBlockFn: () => isChanged && !confirm(words.leave),
    enableBeforeUnload: () => isChanged,
  });
  const keep = (next: Database) => {
    cache.setQueryData(databaseOf(next.databaseId).queryKey, next);
    void cache.invalidateQueries({ queryKey: databases.queryKey });
  };
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    if (text.trim().length < 4) {
      refuse(uploadTexts.shortDescription, 'description');
      return;
    }
    accept();
    setBusy(true);
    try {
      const done = await describe(stored, text.trim());
      const now = 'saved' in done ? done.saved : done.theirs;
      keep(now);
      // Also if somebody else has written the same.
      const isSaved = now.description === text.trim();
      if (isSaved && latest.current === text) {
        say(editTexts.saved);
        onClose();
        return;
      }
      if (isSaved) say(editTexts.savedFirst);
      setStored(now);
      setConflict(!isSaved);
      setBusy(false);
    } catch (error) {
      setBusy(false);
      refuseBy(error);
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
        {...marks('description')}
        value={text}
        onChange={(event) => show(event.target.value)}
      />
      {conflict && (
        <Theirs
          value={stored.description}
          onTake={() => {
            show(stored.description);
            setConflict(false);
          }}
        />
      )}
      {message}
      <SaveOrCancel disabled={busy || !isChanged} onCancel={onClose} />
    </form>
  );
}
