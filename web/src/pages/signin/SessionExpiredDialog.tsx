import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useStore } from '../../api/createStore';
import { errorText } from '../../api/errors';
import { configQuery, currentUserQuery } from '../../api/queries';
import { texts } from '../../texts';
import { clearUserData } from '../../session/signIn';
import { KeyForm } from './KeyForm';
import { useSignOut } from './useSignOut';
import { offersProvider, signInByPopup } from '../../session/provider';
import { session, signIn } from '../../session/session';
import { fetchUserName } from '../../session/user';

/** Lies over the page, which keeps its state, until someone signs in again. */
export function SessionExpiredDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const cache = useQueryClient();
  const { credential } = useStore(session);
  const config = useQuery(configQuery);
  const [failure, setFailure] = useState('');
  const [busy, setBusy] = useState(false);
  const signOut = useSignOut();
  const previous = cache.getQueryData(currentUserQuery.queryKey)?.name ?? null;
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
      const next = await signInByPopup(config.data);
      if ((await fetchUserName(next.token)) !== previous) clearUserData();
      signIn(next, true);
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
        {credential?.kind === 'provider' && config.data && offersProvider(config.data) ? (
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
          <KeyForm previousUser={previous} />
        )}
        <button type="button" onClick={() => void signOut()}>
          {texts.header.signOut}
        </button>
      </div>
    </dialog>
  );
}
