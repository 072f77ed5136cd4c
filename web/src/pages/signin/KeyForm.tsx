import { useId, useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { useFormError } from '../../ui/useFormError';
import { clearUserData } from '../../session/signIn';
import { session, signIn } from '../../session/session';
import { fetchUserName } from '../../session/user';

/** Requests an API key, and checks it before it is used. */
export function KeyForm({ previousUser }: { previousUser: string | null }) {
  const id = useId();
  const [key, setKey] = useState('');
  const [keep, setKeep] = useState(true);
  const { fieldProps, showError, clearError, message } = useFormError();
  const [busy, setBusy] = useState(false);
  const submit = async (event: SyntheticEvent) => {
    event.preventDefault();
    const token = key.trim();
    if (!token) {
      showError(texts.signIn.emptyKey, 'key');
      return;
    }
    setBusy(true);
    clearError();
    try {
      const name = await fetchUserName(token);
      if (name === null) showError(texts.signIn.refusedKey, 'key');
      else {
        if (session.current().credential && name !== previousUser) clearUserData();
        signIn({ kind: 'key', token }, keep);
      }
    } catch (error) {
      showError(errorText(error));
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
        {...fieldProps('key', `${id}-help`)}
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
