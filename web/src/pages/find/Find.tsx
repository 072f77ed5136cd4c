import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { ApiError } from '../../api/errors';
import { useMay } from '../../api/queries';
import { texts } from '../../texts';
import { Boundary } from '../../ui/Boundary';
import { Failed } from '../../ui/Failed';
import { Failure } from '../../ui/Failure';
import { Later } from '../../ui/Later';
import { lazily } from '../../ui/part';
import { useMedia } from '../../ui/useMedia';
import { Grid } from './Grid';
import type { Card } from './hits';
import { REACHABLE } from './request';
import { SORTS, chosenFilters, type FindState, type Sort } from './state';
import { useFirstPage, type Page } from './useSearch';
import './find.css';

const Chosen = lazily(() => import('./Chosen').then((found) => found.Chosen));
// Not shown before the first results.
const Facets = lazily(() => import('./Facets').then((found) => found.Facets));
const Look = lazily(() => import('./Look').then((found) => found.Look));
const Selection = lazily(() => import('./Selection').then((found) => found.Selection));

export function Find() {
  const state = useSearch({ from: '/' });
  const navigate = useNavigate({ from: '/' });
  const found = useFirstPage(state);
  const may = useMay();
  const maySelect = may.download || may.change;
  const [look, setLook] = useState<number | null>(null);
  const [selection, setSelection] = useState<ReadonlyMap<string, Card>>(new Map());
  const change = (next: FindState) => void navigate({ search: next, resetScroll: true });
  const select = (cards: Card[]) =>
    setSelection((before) => {
      const after = new Map(before);
      const [only] = cards;
      // A click toggles one asset; with shift, it selects the whole range.
      if (cards.length === 1 && only && after.delete(only.id)) return after;
      cards.forEach((card) => after.set(card.id, card));
      return after;
    });
  useEffect(() => {
    document.title = state.q ? `${state.q} · ${texts.product}` : texts.product;
  }, [state.q]);
  const page = found.data;
  const isLate = useLate(found.isPlaceholderData);
  // Who may not search at all sees what somebody sees who may see no asset.
  const denied = found.error instanceof ApiError && found.error.status === 403;
  const total = page ? Math.min(page.reply.assetsFound ?? 0, REACHABLE) : 0;
  return (
    <div className="find">
      <h1 className="hidden">{texts.find.title}</h1>
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
      <Filters state={state} page={page} change={change} />
      <section
        id="results"
        tabIndex={-1}
        aria-label={texts.find.title}
        aria-busy={found.isPlaceholderData}
        className="results"
      >
        <Bar state={state} page={page} pending={found.isPending || isLate} change={change} />
        {chosenFilters(state) > 0 && (
          // The column of filters has them, too.
          <Boundary fallback={() => null}>
            <Suspense fallback={<div className="chosen-filters" />}>
              <Chosen state={state} change={change} />
            </Suspense>
          </Boundary>
        )}
        {page?.reply.didYouMean && (
          <p className="hint">
            {texts.find.didYouMean}{' '}
            <Link to="/" search={{ ...state, q: page.reply.didYouMean }}>
              <bdi>{page.reply.didYouMean}</bdi>
            </Link>
            ?
          </p>
        )}
        {page?.reply.reindexDue && <p className="hint">{page.reply.reindexDue}</p>}
        {page?.reply.filesLeftOut && <p className="hint">{page.reply.filesLeftOut}</p>}
        {found.isError && !page && !denied && (
          <Failure error={found.error} reset={() => void found.refetch()} />
        )}
        {page && <Failed found={found} />}
        {page && total === 0 && <Empty state={state} mayUpload={may.change} />}
        {denied && !page && <Empty state={{}} mayUpload={false} />}
        <p className="hidden">{maySelect ? texts.find.keys : texts.find.readerKeys}</p>
        {page && total > 0 && (
          <Grid
            state={state}
            page={page}
            total={total}
            selected={new Set(selection.keys())}
            onSelect={maySelect ? select : undefined}
            onLook={setLook}
          />
        )}
        {total === REACHABLE && <p className="hint">{texts.find.capped}</p>}
      </section>
      {look !== null && (
        <Later onClose={() => setLook(null)}>
          <Look
            state={state}
            index={look}
            total={total}
            onMove={setLook}
            onClose={() => setLook(null)}
          />
        </Later>
      )}
      {selection.size > 0 && (
        <Later onClose={() => setSelection(new Map())}>
          <Selection
            cards={[...selection.values()]}
            shown={page?.cards ?? []}
            total={total}
            may={may}
            onChange={(cards) => setSelection(new Map(cards.map((card) => [card.id, card])))}
          />
        </Later>
      )}
    </div>
  );
}

const LATE = 400;

/** Whether the results have been those of an earlier search for so long that a person sees it. */
function useLate(waits: boolean): boolean {
  const [late, setLate] = useState(false);
  useEffect(() => {
    if (!waits) return;
    const timer = setTimeout(() => setLate(true), LATE);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [waits]);
  return waits && late;
}

interface Part {
  state: FindState;
  page: Page | undefined;
  change: (next: FindState) => void;
}

/** A column on wide windows; on narrow ones it opens above the results. */
function Filters({ state, page, change }: Part) {
  const wide = useMedia('(min-width: 56rem)');
  const facets = (
    <Boundary fallback={(error, again) => <Failure error={error} reset={again} />}>
      <Suspense>
        <Facets state={state} reply={page?.reply} change={change} />
      </Suspense>
    </Boundary>
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
      <summary>{texts.find.showFilters(chosenFilters(state))}</summary>
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

function Bar({ state, page, pending, change }: Part & { pending: boolean }) {
  const assets = page?.reply.assetsFound ?? 0;
  return (
    <div className="results-bar">
      <p role="status" className="total">
        {pending && texts.find.searching}
        {page && !pending && (
          <>
            <strong>{texts.find.results(assets, false)}</strong>
            {page.lagging && <span className="faint"> {texts.find.indexing}</span>}
          </>
        )}
      </p>
      <label className="inline">
        <span className="faint">{texts.find.sort}</span>
        <select
          value={state.sort ?? ''}
          onChange={(event) => {
            const sort = event.target.value;
            change({ ...state, sort: sort === '' ? undefined : (sort as Sort) });
          }}
        >
          <option value="">{texts.find.sorts.best}</option>
          {SORTS.map((sort) => (
            <option key={sort} value={sort}>
              {texts.find.sorts[sort]}
            </option>
          ))}
        </select>
      </label>
      <div role="group" aria-label={texts.find.layout} className="switch">
        {(['grid', 'list'] as const).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={(state.view ?? 'grid') === each}
            onClick={() => change({ ...state, view: each === 'list' ? 'list' : undefined })}
          >
            {texts.find[each]}
          </button>
        ))}
      </div>
    </div>
  );
}

function Empty({ state, mayUpload }: { state: FindState; mayUpload: boolean }) {
  const isNarrowed = state.q ?? chosenFilters(state);
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
