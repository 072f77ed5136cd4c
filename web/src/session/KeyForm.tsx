import { useId, useState, type SyntheticEvent } from 'react';
import { sentence } from '../api/errors';
import { texts } from '../texts';
import { useRefusal } from '../ui/useRefusal';
import { wipe } from './begin';
import { session, signIn } from './session';
import { userOf } from './user';

/** Asks for an API key, and checks it before it is used. */
export function KeyForm({ previousUser }: { previousUser: string | null }) {
  const id = useId();
  const [key, setKey] = useState('');
  const [keep, setKeep] = useState(true);
  const { marks, refuse, accept, message } = useRefusal();
  const [busy, setBusy] = useState(false);
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const token = key.trim();
    if (!token) {
      refuse(texts.signIn.emptyKey, 'key');
      return;
    }
    setBusy(true);
    accept();
    try {
      const name = await userOf(token);
      if (name === null) refuse(texts.signIn.refusedKey, 'key');
      else {
        if (session.current().credential && name !== previousUser) wipe();
        signIn({ kind: 'key', token }, keep);
      }
    } catch (error) {
      refuse(sentence(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="stack">
      <label htmlFor={id}>{texts.signIn.key}</label>
      <input
        id={id}
        type="password"
        autoComplete="off"
        spellCheck={false}
        value={key}
        {...marks('key', `${id}-help`)}
        onChange={(event) => setKey(event.target.value)}
      />
      <p id={`${id}-help`} className="help">
        {texts.signIn.keyHelp}
      </p>
      <label className="check">
        <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
        <span>
          {texts.signIn.keep}
          <small>{texts.signIn.keepHelp}</small>
        </span>
      </label>
      {message}
      <button type="submit" className="primary" disabled={busy}>
        {busy ? texts.signIn.checking : texts.signIn.submit}
      </button>
    </form>
  );
}
