import { useState } from 'react';
import { texts } from '../../texts';
import { LazyDialog } from '../../ui/LazyDialog';
import { lazyComponent } from '../../ui/lazyComponent';
import { SORTS, countFilters, defaultSort, isNamedSort, type FindState } from './findState';
import type { ChangeSearch } from './useChangeSearch';
import type { Page } from './useSearch';

const SaveSearchDialog = lazyComponent(
  () => import('../saved/SaveSearchDialog'),
  'SaveSearchDialog',
);
const ColumnsDialog = lazyComponent(() => import('./ColumnsDialog'), 'ColumnsDialog');
const ExportDialog = lazyComponent(() => import('./ExportDialog'), 'ExportDialog');

interface ResultsBarProps {
  state: FindState;
  page: Page | undefined;
  pending: boolean;
  change: ChangeSearch;
}

/** How many hits there are, in which order and layout they are shown, and what else they are for. */
export function ResultsBar({ state, page, pending, change }: ResultsBarProps) {
  const [dialog, setDialog] = useState<'columns' | 'export' | 'save' | null>(null);
  const close = () => setDialog(null);
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
          value={state.sort ?? defaultSort(state) ?? ''}
          onChange={(event) => {
            // Also the default: of words that are typed at the same time, another is the default.
            const sort = event.target.value || undefined;
            change((before) => ({ ...before, sort }));
          }}
        >
          {state.q && <option value="">{texts.find.sorts.best}</option>}
          {state.sort && !isNamedSort(state.sort) && (
            <option value={state.sort}>{texts.find.sorts.column}</option>
          )}
          {SORTS.map((sort) => (
            <option key={sort} value={sort}>
              {texts.find.sorts[sort]}
            </option>
          ))}
        </select>
      </label>
      {(Boolean(state.q) || countFilters(state) > 0) && (
        <button type="button" onClick={() => setDialog('save')}>
          {texts.find.save}
        </button>
      )}
      {assets > 0 && (
        <button type="button" onClick={() => setDialog('export')}>
          {texts.find.export}
        </button>
      )}
      {state.view === 'list' && (
        <button type="button" className="of-list" onClick={() => setDialog('columns')}>
          {texts.find.columns}
        </button>
      )}
      {dialog && (
        <LazyDialog onClose={close}>
          {dialog === 'columns' ? (
            <ColumnsDialog onClose={close} />
          ) : dialog === 'export' ? (
            <ExportDialog state={state} onClose={close} />
          ) : (
            <SaveSearchDialog name={state.q ?? ''} onClose={close} />
          )}
        </LazyDialog>
      )}
      <div role="group" aria-label={texts.find.layout} className="switch">
        {(['grid', 'list', 'map'] as const).map((view) => (
          <button
            key={view}
            type="button"
            aria-pressed={(state.view ?? 'grid') === view}
            onClick={() =>
              change((before) => ({ ...before, view: view === 'grid' ? undefined : view }))
            }
          >
            {texts.find[view]}
          </button>
        ))}
      </div>
    </div>
  );
}
