import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Fragment, Suspense, useEffect, useRef, useState } from 'react';
import { activity } from '../../api/activity';
import { useStore } from '../../api/createStore';
import { isRetryable } from '../../api/errors';
import { configQuery, currentUserQuery, useMayGive, useMayWrite } from '../../api/queries';
import { SearchBox } from '../find/SearchBox';
import { signInProgress } from '../../session/signIn';
import { useSignOut } from '../signin/useSignOut';
import { session } from '../../session/session';
import { SignIn } from '../signin/SignIn';
import { SessionExpiredDialog } from '../signin/SessionExpiredDialog';
import { texts } from '../../texts';
import { currentUpload } from '../upload/currentUpload';
import { DropTarget } from './DropTarget';
import { ErrorBoundary } from '../../ui/ErrorBoundary';
import { RetryButton } from '../../ui/ErrorNotice';
import { LazyDialog } from '../../ui/LazyDialog';
import { lazyComponent } from '../../ui/lazyComponent';
import { Toasts } from '../../ui/Toasts';
import { chooseTheme, chosenTheme, type Theme } from '../../ui/theme';
import { useShortcut } from '../../ui/useShortcut';

const Keys = lazyComponent(() => import('../../ui/ShortcutsDialog'), 'ShortcutsDialog');
const ActivityPanel = lazyComponent(() => import('./ActivityPanel'), 'ActivityPanel');

export function Shell() {
  const { signedIn, expired, generation } = useStore(session);
  const { state } = useStore(signInProgress);
  useFocusOnNavigation();
  if (state === 'popup') return <p className="notice">{texts.signIn.closeWindow}</p>;
  if (!signedIn) return <SignIn />;
  return (
    // The next user gets a new page: this one holds replies and drafts of the user before.
    <Fragment key={generation}>
      <a className="skip" href="#content">
        {texts.skip}
      </a>
      <Header />
      <Banner />
      <UnknownRights />
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <Activity />
      {expired && <SessionExpiredDialog />}
      <DropTargetOutsideUpload />
      <Toasts />
    </Fragment>
  );
}

/** What runs for the user, on each page; without it the page is whole. */
function Activity() {
  const { jobs, runs } = useStore(activity);
  const upload = useStore(currentUpload);
  if (!jobs.size && !runs.length && !upload) return null;
  return (
    <ErrorBoundary fallback={() => null}>
      <Suspense>
        <ActivityPanel />
      </Suspense>
    </ErrorBoundary>
  );
}

/** The page of uploads takes dropped files itself; one upload runs at once. */
function DropTargetOutsideUpload() {
  const upload = useStore(currentUpload);
  const onUpload = useRouterState({ select: (state) => state.location.pathname === '/upload' });
  const mayUpload = useMayWrite();
  return onUpload ? null : <DropTarget mayUpload={mayUpload === true && !upload} />;
}

export function NotFound() {
  return (
    <div className="notice">
      <h1>{texts.notFound}</h1>
      <Link to="/" search={{}}>
        {texts.toFind}
      </Link>
    </div>
  );
}

function Header() {
  const user = useQuery(currentUserQuery);
  const mayUpload = useMayWrite();
  return (
    <header className="bar">
      <Link
        to="/"
        search={{}}
        className="brand"
        aria-label={`${texts.product}: ${texts.header.find}`}
      >
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
          <path d="M16 2 29 9v14l-13 7L3 23V9z" fill="#0b57c2" />
          <path d="M16 2 29 9l-13 7L3 9z" fill="#8ab8ff" />
          <path d="M16 16 29 9v14l-13 7z" fill="#0a3f8c" />
        </svg>
        <span>{texts.product}</span>
      </Link>
      <SearchBox />
      {mayUpload !== false && (
        <Link
          to="/upload"
          search={{}}
          // Its room is kept until the rights are known: it would move the search.
          className={mayUpload ? 'button primary' : 'button primary unknown'}
          preload={false}
        >
          {texts.header.upload}
        </Link>
      )}
      <Account name={user.data?.name ?? ''} />
    </header>
  );
}

function Account({ name }: { name: string }) {
  const [theme, setTheme] = useState<Theme>(chosenTheme);
  const [keys, setKeys] = useState(false);
  const signOut = useSignOut();
  const mayGive = useMayGive();
  const pages = [
    ['/saved', texts.header.saved] as const,
    ['/jobs', texts.header.jobs] as const,
    ...(mayGive ? [['/access', texts.header.access] as const] : []),
  ];
  useShortcut('?', () => setKeys(true));
  return (
    <>
      {keys && (
        <LazyDialog onClose={() => setKeys(false)}>
          <Keys onClose={() => setKeys(false)} />
        </LazyDialog>
      )}
      <button
        type="button"
        popoverTarget="account"
        className="quiet"
        aria-label={texts.header.account}
      >
        <span className="initial" aria-hidden="true">
          {(name[0] ?? '·').toUpperCase()}
        </span>
      </button>
      <div id="account" popover="auto" className="menu">
        <p>{texts.header.signedInAs(name)}</p>
        <fieldset>
          <legend>{texts.header.theme}</legend>
          {(['auto', 'light', 'dark'] as const).map((choice) => (
            <label key={choice}>
              <input
                type="radio"
                name="theme"
                checked={theme === choice}
                onChange={() => {
                  chooseTheme(choice);
                  setTheme(choice);
                }}
              />
              {texts.header.themes[choice]}
            </label>
          ))}
        </fieldset>
        {pages.map(([to, name]) => (
          <Link
            key={to}
            to={to}
            className="button"
            preload={false}
            onClick={() => document.getElementById('account')?.hidePopover()}
          >
            {name}
          </Link>
        ))}
        <button
          type="button"
          popoverTarget="account"
          popoverTargetAction="hide"
          onClick={() => setKeys(true)}
        >
          {texts.header.keys}
        </button>
        <button type="button" onClick={() => void signOut()}>
          {texts.header.signOut}
        </button>
      </div>
    </>
  );
}

/** What the user may do is not known: without this, the page would only offer nothing. */
function UnknownRights() {
  const user = useQuery(currentUserQuery);
  if (user.data || !isRetryable(user.error)) return null;
  return (
    <div className="banner">
      {/* Not its error: the page names that of its own requests, which is often the same. */}
      {texts.header.unknownRights}{' '}
      <RetryButton error={user.error} onClick={() => void user.refetch()} />
    </div>
  );
}

/** The banner of the deployment, as text: markup of its settings is not rendered. */
function Banner() {
  const query = useQuery(configQuery);
  const markup = query.data?.bannerHtmlMessage;
  if (!markup) return null;
  const text = new DOMParser().parseFromString(markup, 'text/html').body.textContent;
  return text ? <p className="banner">{text}</p> : null;
}

/** Moves the focus to the content of a page that was opened by a link; not for a change of search. */
function useFocusOnNavigation() {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const before = useRef(path);
  useEffect(() => {
    if (before.current === path) return;
    before.current = path;
    document.getElementById('content')?.focus({ preventScroll: true });
  }, [path]);
}
