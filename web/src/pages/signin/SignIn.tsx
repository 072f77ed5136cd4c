import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useStore } from '../../api/createStore';
import { configQuery } from '../../api/queries';
import { errorText } from '../../api/errors';
import { texts } from '../../texts';
import { InlineError } from '../../ui/InlineError';
import { signInProgress } from '../../session/signIn';
import { KeyForm } from './KeyForm';
import { offersProvider, redirectToProvider } from '../../session/provider';

/** A local runtime serves the page at this address only. */
const isLocal = location.hostname === '127.0.0.1';

function OneTimeLinkHelp({ children }: { children: string }) {
  return (
    <p className="help">
      {children} <code>{texts.signIn.onceCommand}</code>
    </p>
  );
}

/** The whole page while no one is signed in; the address keeps the requested page. */
export function SignIn() {
  const { state, failure, once, retry } = useStore(signInProgress);
  const config = useQuery(configQuery);
  const [refused, setRefused] = useState('');
  const [leaving, setLeaving] = useState(false);
  useEffect(() => {
    // The way back from the provider may show this page as it was left.
    const shown = () => setLeaving(false);
    addEventListener('pageshow', shown);
    return () => removeEventListener('pageshow', shown);
  }, []);
  if (state === 'working') {
    return (
      <main className="centre" role="status">
        <p>{texts.signIn.checking}</p>
      </main>
    );
  }
  const toProvider = async () => {
    if (!config.data) return;
    setRefused('');
    setLeaving(true);
    try {
      await redirectToProvider(config.data, location.pathname + location.search);
    } catch (error) {
      setLeaving(false);
      setRefused(errorText(error));
    }
  };
  return (
    <main className="centre">
      <section className="panel stack" aria-labelledby="sign-in">
        <h1 id="sign-in">{texts.signIn.title}</h1>
        <p>{texts.signIn.about}</p>
        {failure !== null && (
          <div className="notice bad" role="alert">
            <p>
              {once && `${texts.signIn.onceFailed}. `}
              {errorText(failure)}
            </p>
            {retry && (
              <button type="button" onClick={retry}>
                {texts.tryAgain}
              </button>
            )}
            {once && !retry && <OneTimeLinkHelp>{texts.signIn.onceHelp}</OneTimeLinkHelp>}
          </div>
        )}
        <InlineError query={config} />
        {config.data && offersProvider(config.data) && (
          <>
            <button
              type="button"
              className="primary"
              disabled={leaving}
              onClick={() => void toProvider()}
            >
              {texts.signIn.provider}
            </button>
            <p role="status">{leaving && texts.signIn.leaving}</p>
            <p role="alert" className="failure">
              {refused}
            </p>
            <p className="help">{texts.signIn.or}</p>
          </>
        )}
        <KeyForm />
        {isLocal && !once && <OneTimeLinkHelp>{texts.signIn.localHelp}</OneTimeLinkHelp>}
      </section>
    </main>
  );
}
