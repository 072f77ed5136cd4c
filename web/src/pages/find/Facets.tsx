import { Link } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { texts } from '../../texts';
import { filtersTexts } from '../../texts/filters';
import { archivedTexts } from '../../texts/archived';
import { databasesTexts } from '../../texts/databases';
import { UserText } from '../../ui/UserText';
import { formatNumber, formatDate, pluralize, formatBytes } from '../../texts/formats';
import { lazyComponent } from '../../ui/lazyComponent';
import type { SearchReply } from '../../api/search';
import { FilterGroup } from './FilterGroup';
import { RangeFilter } from './RangeFilter';
import { FACETS, toggleFacet, type Facet, type FindState } from './findState';
import { formatAssetCount, valueLabel, facetValues, type Value } from './facetValues';
import type { ChangeSearch } from './useChangeSearch';

const Conditions = lazyComponent(() => import('./Conditions'), 'Conditions');
const SHOWN = 6;
const MEGABYTE = 1_000_000;

/** What the hits can be narrowed by, with the number of assets of each value. */
export function Facets(props: {
  state: FindState;
  reply: SearchReply | undefined;
  change: ChangeSearch;
}) {
  const { state, reply, change } = props;
  return (
    <div className="facets">
      {/* All at once: what is counted would move what is below it. */}
      {reply && <Filters state={state} reply={reply} change={change} />}
    </div>
  );
}

function Filters(props: { state: FindState; reply: SearchReply; change: ChangeSearch }) {
  const { state, reply, change } = props;
  return (
    <>
      {FACETS.map((facet) => (
        <Values key={facet} facet={facet} values={facetValues(reply, facet, state)} {...props} />
      ))}
      <RangeFilter
        name="triangles"
        legend={filtersTexts.triangles}
        kind="number"
        value={state.triangles ?? null}
        buckets={triangles(reply)}
        show={(bound) => formatNumber(Number(bound))}
        onChange={(triangles) =>
          change((before) => ({ ...before, triangles: triangles as FindState['triangles'] }))
        }
      />
      <RangeFilter
        name="size"
        legend={filtersTexts.size}
        scale={MEGABYTE}
        kind="number"
        value={state.size ?? null}
        buckets={histogram(reply, 'num_filesize')}
        show={(bound) => formatBytes(Number(bound))}
        onChange={(range) => change((before) => ({ ...before, size: range as FindState['size'] }))}
      />
      <RangeFilter
        name="date"
        legend={filtersTexts.date}
        kind="date"
        value={state.date ?? null}
        buckets={histogram(reply, 'date_lastmodified')}
        show={(bound) => formatDate(String(bound))}
        onChange={(range) => change((before) => ({ ...before, date: range as FindState['date'] }))}
      />
      <Taken {...props} />
      <Suspense fallback={<div className="condition waiting" />}>
        <Conditions change={change} />
      </Suspense>
      <label className="check">
        <input
          type="checkbox"
          checked={state.archived ?? false}
          onChange={({ target }) =>
            change((before) => ({ ...before, archived: target.checked || undefined }))
          }
        />
        {filtersTexts.archived}
      </label>
      <Link to="/archived">{archivedTexts.title}</Link>
    </>
  );
}

/** When photographs were taken; most libraries have none. */
function Taken({ state, reply, change }: Parameters<typeof Filters>[0]) {
  const days = reply.metadataFacets?.find((facet) => facet.key === 'fact_taken')?.dates ?? [];
  if (!days.length && !state.taken) return null;
  return (
    <RangeFilter
      name="taken"
      legend={filtersTexts.taken}
      kind="date"
      value={state.taken ?? null}
      buckets={days.map(({ from, assets, documents }) => ({
        // The server writes the time of the camera's clock as UTC.
        from: String(from).replace(/Z$/, ''),
        to: null,
        assets: assets ?? documents,
      }))}
      show={(bound) => formatDate(String(bound))}
      onChange={(range) => change((before) => ({ ...before, taken: range as FindState['taken'] }))}
    />
  );
}

function Values(props: { facet: Facet; values: Value[]; state: FindState; change: ChangeSearch }) {
  const { facet, values, state, change } = props;
  const [all, setAll] = useState(false);
  if (!values.length) return null;
  const shown = all ? values : values.slice(0, SHOWN);
  const selected = state.facets?.[facet] ?? [];
  return (
    <FilterGroup
      name={facet}
      legend={filtersTexts.facets[facet]}
      isUsed={selected.length > 0}
      className="values"
    >
      {shown.map(({ value, assets }) => (
        <label key={String(value)} className="value">
          <input
            type="checkbox"
            checked={selected.includes(value)}
            onChange={() => change((before) => toggleFacet(before, facet, value))}
          />
          <UserText text={valueLabel(value)} title={valueLabel(value)} line />
          <span className="count" title={pluralize(assets, 'asset', 'assets')}>
            {formatAssetCount(assets)}
          </span>
        </label>
      ))}
      {values.length > SHOWN && (
        <button type="button" className="quiet small" onClick={() => setAll(!all)}>
          {all ? filtersTexts.fewer : texts.find.more(values.length - SHOWN)}
        </button>
      )}
      {facet === 'str_databaseid' && <ToDatabases selected={selected.map(String)} />}
    </FilterGroup>
  );
}

/** The page of the database that is chosen, else the list of all. */
function ToDatabases({ selected: [databaseId, ...others] }: { selected: string[] }) {
  if (databaseId === undefined || others.length) {
    return <Link to="/databases">{databasesTexts.all}</Link>;
  }
  return (
    <Link to="/databases/$databaseId" params={{ databaseId }}>
      {databasesTexts.about}
    </Link>
  );
}

function histogram(reply: SearchReply | undefined, field: string) {
  const histogramOfField = reply?.histograms?.find((histogram) => histogram.field === field);
  return (histogramOfField?.buckets ?? []).map((bucket) => ({
    from: bucket.from ?? null,
    to: bucket.to ?? null,
    assets: bucket.assets ?? bucket.documents,
  }));
}

function triangles(reply: SearchReply | undefined) {
  const facetOfTriangles = reply?.metadataFacets?.find((facet) => facet.key === 'fact_triangles');
  return (facetOfTriangles?.ranges ?? []).map((range) => ({
    from: range.from ?? null,
    to: range.to ?? null,
    assets: range.assets ?? range.doc_count,
  }));
}
