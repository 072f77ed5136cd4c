import { useState } from 'react';
import { texts } from '../../texts';
import { count, day, size } from '../../ui/formats';
import type { SearchReply } from './hits';
import { Metadata } from './Metadata';
import { Range } from './Range';
import {
  chosenFilters,
  FACETS,
  toggled,
  withoutFilters,
  type Choice,
  type Facet,
  type FindState,
} from './state';

interface Value {
  value: Choice;
  documents: number;
}

const SHOWN = 6;

/** What the hits can be narrowed by, with the number of hits of each value. */
export function Facets(props: {
  state: FindState;
  reply: SearchReply | undefined;
  change: (next: FindState) => void;
}) {
  const { state, reply, change } = props;
  const chosen = chosenFilters(state);
  return (
    <div className="facets">
      {chosen > 0 && (
        <button type="button" onClick={() => change(withoutFilters(state))}>
          {texts.find.clear}
        </button>
      )}
      {FACETS.map((facet) => (
        <Values key={facet} facet={facet} values={valuesOf(reply, facet, state)} {...props} />
      ))}
      <Range
        legend={texts.find.triangles}
        kind="number"
        value={state.triangles ?? null}
        buckets={[]}
        onChange={(triangles) =>
          change({ ...state, triangles: triangles as FindState['triangles'] })
        }
      />
      <Range
        legend={texts.find.size}
        kind="number"
        value={state.size ?? null}
        buckets={histogram(reply, 'num_filesize')}
        label={(from, to) => `${from ? size(Number(from)) : '0'} – ${to ? size(Number(to)) : '…'}`}
        onChange={(range) => change({ ...state, size: range as FindState['size'] })}
      />
      <Range
        legend={texts.find.date}
        kind="date"
        value={state.date ?? null}
        buckets={histogram(reply, 'date_lastmodified')}
        label={(from) => day(String(from))}
        onChange={(range) => change({ ...state, date: range as FindState['date'] })}
      />
      <Metadata state={state} change={change} />
    </div>
  );
}

function Values(props: {
  facet: Facet;
  values: Value[];
  state: FindState;
  change: (next: FindState) => void;
}) {
  const { facet, values, state, change } = props;
  const [all, setAll] = useState(false);
  if (!values.length) return null;
  const shown = all ? values : values.slice(0, SHOWN);
  const chosen = state.facets?.[facet] ?? [];
  return (
    <fieldset className="field">
      <legend>{texts.find.facets[facet]}</legend>
      {shown.map(({ value, documents }) => (
        <label key={String(value)} className="value">
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={() => change(toggled(state, facet, value))}
          />
          <bdi className="line" title={nameOf(value)}>
            {nameOf(value)}
          </bdi>
          <span className="count">{count(documents)}</span>
        </label>
      ))}
      {values.length > SHOWN && (
        <button type="button" className="quiet small" onClick={() => setAll(!all)}>
          {all ? texts.find.fewer : texts.find.more(values.length - SHOWN)}
        </button>
      )}
    </fieldset>
  );
}

function nameOf(value: Choice): string {
  return typeof value === 'boolean' ? (value ? texts.find.yes : texts.find.no) : String(value);
}

/** The values that the reply counts; chosen ones stay, even where nothing has them any more. */
function valuesOf(reply: SearchReply | undefined, facet: Facet, state: FindState): Value[] {
  const counted =
    reply?.aggregations?.[facet]?.buckets ??
    reply?.metadataFacets?.find((each) => each.key === facet)?.buckets ??
    [];
  const values = counted.flatMap((bucket): Value[] => {
    const value = facet === 'fact_watertight' ? truth(bucket) : bucket.key;
    return isChoice(value) && value !== '' ? [{ value, documents: bucket.doc_count }] : [];
  });
  const known = new Set(values.map((each) => each.value));
  const others = (state.facets?.[facet] ?? []).filter((each) => !known.has(each));
  return [...values, ...others.map((value) => ({ value, documents: 0 }))];
}

function truth(bucket: { key?: unknown; key_as_string?: string | null }): boolean {
  return bucket.key === true || bucket.key === 1 || bucket.key_as_string === 'true';
}

const isChoice = (value: unknown): value is Choice =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

function histogram(reply: SearchReply | undefined, field: string) {
  const found = reply?.histograms?.find((each) => each.field === field);
  return (found?.buckets ?? []).map((each) => ({
    from: each.from ?? null,
    to: each.to ?? null,
    documents: each.documents,
  }));
}
