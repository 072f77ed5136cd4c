import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useStore } from '../../api/createStore';
import { errorText } from '../../api/errors';
import { configQuery } from '../../api/queries';
import { texts } from '../../texts';
import { beginProviderSession, switchTo } from '../../session/signIn';
import { KeyForm } from './KeyForm';
import { useSignOut } from './useSignOut';
import { offersProvider, signInByPopup } from '../../session/provider';
import { session } from '../../session/session';

/** Lies over the page, which keeps its state, until someone signs in again. */
export function SessionExpiredDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const cache = useQueryClient();
  const { signedIn } = useStore(session);
  const config = useQuery(configQuery);
  const [failure, setFailure] = useState('');
  const [busy, setBusy] = useState(false);
  const signOut = useSignOut();
  useEffect(() => {
    dialog.current?.showModal();
    // What was refused while the sign-in had ended is requested again.
    return () =>
      void cache.invalidateQueries({ predicate: (query) => query.state.status === 'error' });
  }, [cache]);
  const byProvider = async () => {
    if (!config.data) return;
    setBusy(true);
    setFailure('');
    try {
      switchTo(await beginProviderSession(await signInByPopup(config.data)));
    } catch (error) {
      setFailure(errorText(error));
    }
    setBusy(false);
  };
  return (
    <dialog ref={dialog} aria-labelledby="again" onCancel={(event) => event.preventDefault()}>
      <div className="stack">
        <h2 id="again">{texts.signIn.again}</h2>
        <p>{texts.signIn.againHelp}</p>
        {signedIn?.byProvider && config.data && offersProvider(config.data) ? (
          <>
            <button
              type="button"
              className="primary"
              disabled={busy}
              onClick={() => void byProvider()}
            >
              {texts.signIn.provider}
            </button>
            <p role="status">{busy && texts.signIn.inWindow}</p>
            <p role="alert" className="failure">
              {failure}
            </p>
          </>
        ) : (
          <KeyForm />
        )}
        <button type="button" onClick={() => void signOut()}>
          {texts.header.signOut}
        </button>
      </div>
    </dialog>
  );
}
