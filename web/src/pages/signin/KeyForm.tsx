import { useId, useState, type SyntheticEvent } from 'react';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { useFormError } from '../../ui/useFormError';
import { beginSession } from '../../session/session';
import { exchangeOneTimeSecret } from '../../session/oneTimeLink';
import { switchTo } from '../../session/signIn';

/** Requests an API key or a one-time link, for which the server begins a session. */
export function KeyForm() {
  const id = useId();
  const [key, setKey] = useState('');
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
      const [, secret] = /#once=([\w-]+)$/.exec(token) ?? [];
      const signedIn = await (secret ? exchangeOneTimeSecret(secret) : beginSession(token));
      if (signedIn) switchTo(signedIn);
      else showError(texts.signIn.refusedKey, 'key');
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
      {message}
      <button type="submit" className="primary" disabled={busy}>
        {busy ? texts.signIn.checking : texts.signIn.submit}
      </button>
    </form>
  );
}
