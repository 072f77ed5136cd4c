import { useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { useId, useState, type SyntheticEvent } from 'react';
import { sentence } from '../../api/errors';
import { databases } from '../../api/queries';
import { texts } from '../../texts';
import { say } from '../../ui/Toasts';
import { Theirs } from '../asset/Editor';
import { databaseOf, describe, type Database } from './queries';

const words = texts.databases;

/** The description, edited in place. What was typed is kept whatever the server says. */
export function Describe({ database, onClose }: { database: Database; onClose: () => void }) {
  const id = useId();
  const cache = useQueryClient();
  const [stored, setStored] = useState(database);
  const [text, setText] = useState(database.description);
  const [conflict, setConflict] = useState(false);
  const [state, setState] = useState({ busy: false, failure: '' });
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
    const failure = text.trim().length < 4 ? texts.upload.shortDescription : '';
    setState({ busy: !failure, failure });
    if (failure) return;
    try {
      const done = await describe(stored, text.trim());
      const now = 'saved' in done ? done.saved : done.theirs;
      keep(now);
      // Also if somebody else has written the same.
      if (now.description === text.trim()) {
        say(texts.edit.saved);
        onClose();
        return;
      }
      setStored(now);
      setConflict(true);
      setState({ busy: false, failure: '' });
    } catch (error) {
      setState({ busy: false, failure: sentence(error) });
    }
  };
  return (
    <form className="stack editor" onSubmit={(event) => void submit(event)} aria-label={words.edit}>
      {conflict && (
        <p className="notice" role="alert">
          {words.other}
        </p>
      )}
      <label htmlFor={id}>{texts.upload.description}</label>
      <textarea
        id={id}
        dir="auto"
        rows={4}
        maxLength={256}
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {conflict && (
        <Theirs
          value={stored.description}
          onTake={() => {
            setText(stored.description);
            setConflict(false);
          }}
        />
      )}
      {state.failure && (
        <p className="failure" role="alert">
          {state.failure}
        </p>
      )}
      <div className="acts">
        <button type="submit" className="primary" disabled={state.busy || !isChanged}>
          {texts.edit.save}
        </button>
        <button type="button" onClick={onClose}>
          {texts.cancel}
        </button>
      </div>
    </form>
  );
}
