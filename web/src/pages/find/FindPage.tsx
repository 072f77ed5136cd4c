import { Link, useSearch } from '@tanstack/react-router';
import { Suspense, useEffect, useState, type ComponentProps } from 'react';
import { columns } from '../../api/columns';
import { useStore } from '../../api/createStore';
import { ApiError } from '../../api/errors';
import { queryClient, usePermissions } from '../../api/queries';
import { texts } from '../../texts';
import { ErrorBoundary } from '../../ui/ErrorBoundary';
import { InlineError } from '../../ui/InlineError';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { LazyDialog } from '../../ui/LazyDialog';
import { lazyComponent } from '../../ui/lazyComponent';
import { useMediaQuery } from '../../ui/useMediaQuery';
import { Grid } from './Grid';
import { REACHABLE } from './searchBody';
import { countFilters, type FindState } from './findState';
import { ResultsBar } from './ResultsBar';
import { LAST_SEARCH, useFirstPage, type Page } from './useSearch';
import { useChangeSearch, type ChangeSearch } from './useChangeSearch';
import './find.css';
import { useQuickLook } from './useQuickLook';
import { useSelection } from './useSelection';

const ActiveFilters = lazyComponent(() => import('./ActiveFilters'), 'ActiveFilters');
// Not shown before the first results.
const Facets = lazyComponent(() => import('./Facets'), 'Facets');
const HitMap = lazyComponent(() => import('./HitMap'), 'HitMap');
const ListHeads = lazyComponent(() => import('./ListHeads'), 'ListHeads');
const QuickLook = lazyComponent(() => import('./QuickLook'), 'QuickLook');
const SelectionBar = lazyComponent(() => import('./SelectionBar'), 'SelectionBar');

export function FindPage() {
  const state = useSearch({ from: '/' });
  // A search of the list also reads the fields of its columns.
  useStore(columns);
  const firstPage = useFirstPage(state);
  const may = usePermissions();
  const maySelect = may.download || may.change;
  const quickLook = useQuickLook();
  const { selection, setSelection, select } = useSelection();
  const change = useChangeSearch();
  useEffect(() => void queryClient.setQueryData(LAST_SEARCH, state), [state]);
  useEffect(() => {
    document.title = state.q ? `${state.q} · ${texts.product}` : texts.product;
  }, [state.q]);
  const page = firstPage.data;
  const isLate = useDelayed(firstPage.isPlaceholderData);
  // Who may not search at all sees what someone sees who may see no asset.
  const denied = firstPage.error instanceof ApiError && firstPage.error.status === 403;
  const total = page ? Math.min(page.reply.assetsFound ?? 0, REACHABLE) : 0;
  return (
    <div className="find">
      <h1 className="hidden">{texts.find.title}</h1>
      <SkipToResults />
      <Filters state={state} page={page} change={change} />
      <section
        id="results"
        tabIndex={-1}
        aria-label={texts.find.title}
        aria-busy={firstPage.isPlaceholderData}
        className="results"
      >
        <ResultsBar {...{ state, page, change }} pending={firstPage.isPending || isLate} />
        {countFilters(state) > 0 && <FilterChips state={state} change={change} />}
        {firstPage.isPending && <Skeleton />}
        {page && <Hints state={state} page={page} />}
        {firstPage.isError && !page && !denied && (
          <ErrorNotice error={firstPage.error} onRetry={() => void firstPage.refetch()} />
        )}
        {page && <InlineError query={firstPage} />}
        {page && total === 0 && <EmptyState state={state} mayUpload={may.change} />}
        {denied && !page && <EmptyState state={{}} mayUpload={false} />}
        <p className="hidden">{maySelect ? texts.find.keys : texts.find.readerKeys}</p>
        {page && total > 0 && (
          <Hits
            {...{ state, page, total, change }}
            selected={new Set(selection.keys())}
            onSelect={maySelect ? select : undefined}
            onQuickLook={quickLook.show}
          />
        )}
        {total === REACHABLE && <p className="hint">{texts.find.capped}</p>}
      </section>
      {quickLook.index !== undefined && total > 0 && (
        <LazyDialog onClose={quickLook.close}>
          <QuickLook
            state={state}
            index={quickLook.index}
            total={total}
            onMove={quickLook.show}
            onClose={quickLook.close}
          />
        </LazyDialog>
      )}
      {selection.size > 0 && (
        <LazyDialog onClose={() => setSelection([])}>
          <SelectionBar
            cards={[...selection.values()]}
            shown={page?.cards ?? []}
            total={total}
            may={may}
            onChange={setSelection}
          />
        </LazyDialog>
      )}
    </div>
  );
}

function Hits({ change, ...hits }: ComponentProps<typeof Grid> & { change: ChangeSearch }) {
  if (hits.state.view === 'map')
    return (
      <Suspense fallback={<p className="hint">{texts.loading}</p>}>
        <HitMap state={hits.state} />
      </Suspense>
    );
  return (
    <>
      {hits.state.view === 'list' && (
        <Suspense fallback={<div className="row heads" />}>
          <ListHeads
            state={hits.state}
            onSort={(sort) => change((before) => ({ ...before, sort }))}
          />
        </Suspense>
      )}
      <Grid {...hits} />
    </>
  );
}

function SkipToResults() {
  return (
    <a
      className="skip"
      href="#results"
      onClick={(event) => {
        event.preventDefault();
        const results = document.getElementById('results');
        (results?.querySelector<HTMLElement>('.hits a[tabindex="0"]') ?? results)?.focus();
      }}
    >
      {texts.find.skip}
    </a>
  );
}

/** The column of filters has them, too: without this list the page is whole. */
function FilterChips(props: { state: FindState; change: ChangeSearch }) {
  return (
    <ErrorBoundary fallback={() => null}>
      <Suspense fallback={<div className="chosen-filters" />}>
        <ActiveFilters {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

/** Where the first hits will be, until they are there. */
const Skeleton = () => (
  <div className="skeleton" aria-hidden="true">
    {Array.from({ length: 12 }, (_, at) => (
      <span key={at} className="card waiting" />
    ))}
  </div>
);

/** What the server says of a search. */
function Hints({ state, page: { reply } }: { state: FindState; page: Page }) {
  return (
    <>
      {reply.didYouMean && (
        <p className="hint">
          {texts.find.didYouMean}{' '}
          <Link to="/" search={{ ...state, q: reply.didYouMean }}>
            <bdi>{reply.didYouMean}</bdi>
          </Link>
          ?
        </p>
      )}
      {reply.reindexDue && <p className="hint">{reply.reindexDue}</p>}
      {reply.filesLeftOut && <p className="hint">{reply.filesLeftOut}</p>}
    </>
  );
}

const LATE = 400;

/** Whether the results have been those of an earlier search for so long that a person sees it. */
function useDelayed(waits: boolean): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(() => setLate(true), LATE);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [waits]);
  return waits && isLate;
}

interface FilterProps {
  state: FindState;
  page: Page | undefined;
  change: ChangeSearch;
}

/** A column on wide windows; on narrow ones it opens above the results. */
function Filters({ state, page, change }: FilterProps) {
  const wide = useMediaQuery('(min-width: 56rem)');
  const facets = (
    <ErrorBoundary fallback={(error, again) => <ErrorNotice error={error} onRetry={again} />}>
      <Suspense>
        <Facets state={state} reply={page?.reply} change={change} />
      </Suspense>
    </ErrorBoundary>
  );
  if (wide) {
    return (
      <aside aria-label={texts.find.filters} className="aside">
        {facets}
      </aside>
    );
  }
  return (
    <details className="aside">
      <summary>{texts.find.showFilters(countFilters(state))}</summary>
      {facets}
      {/* The results are below the filters, out of sight. */}
      <button
        type="button"
        className="primary"
        onClick={({ currentTarget }) => {
          currentTarget.closest('details')?.removeAttribute('open');
          document.getElementById('content')?.focus();
        }}
      >
        {texts.find.showResults(page?.reply.assetsFound ?? 0)}
      </button>
    </details>
  );
}

function EmptyState({ state, mayUpload }: { state: FindState; mayUpload: boolean }) {
  const isNarrowed = state.q ?? countFilters(state);
  const words = texts.find[isNarrowed ? 'nothing' : mayUpload ? 'empty' : 'unseen'];
  return (
    <div className="notice">
      <p>
        <strong>{words.title}</strong>
      </p>
      <p>{words.help}</p>
      {isNarrowed ? (
        <Link to="/" search={{}}>
          {texts.find.everything}
        </Link>
      ) : (
        mayUpload && (
          <Link to="/upload" search={{}} className="button primary" preload={false}>
            {texts.header.upload}
          </Link>
        )
      )}
    </div>
  );
}
