import { useId, useState, type SyntheticEvent } from 'react';
import { filtersTexts } from '../../texts/filters';
import { pluralize, formatDateTime } from '../../texts/formats';
import { useFormError } from '../../ui/useFormError';
import { FilterGroup } from './FilterGroup';

type Bound = string | number | null;
type Bounds = [Bound, Bound];

interface Bucket {
  from: Bound;
  to: Bound;
  assets: number;
}

/** Bounds of a number or a date, with the distribution of the hits above them. */
export function RangeFilter(props: {
  name: string;
  legend: string;
  kind: 'number' | 'date';
  value: Bounds | null;
  /** What the numbers that a person enters are multiplied by. */
  scale?: number;
  buckets: Bucket[];
  /** A bound as a person reads it; a bucket without a lower one begins at 0. */
  show: (bound: string | number) => string;
  onChange: (value: Bounds | undefined) => void;
}) {
  const { legend, kind, buckets, show, onChange, scale = 1 } = props;
  const value = scaled(props.value, 1 / scale);
  const id = useId();
  const shown = JSON.stringify(value);
  const [draft, setDraft] = useState({
    of: shown,
    from: textOf(value?.[0]),
    to: textOf(value?.[1]),
  });
  const current =
    draft.of === shown ? draft : { of: shown, from: textOf(value?.[0]), to: textOf(value?.[1]) };
  const { fieldProps, showError, clearError, message } = useFormError();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const bounds: Bounds = [boundOf(current.from, kind), boundOf(current.to, kind)];
    const [least, most] = bounds;
    if (least !== null && most !== null && least > most) {
      showError(filtersTexts.reversed, 'from', 'to');
      return;
    }
    clearError();
    onChange(bounds[0] === null && bounds[1] === null ? undefined : scaled(bounds, scale));
  };
  return (
    <FilterGroup name={props.name} legend={legend} isUsed={value !== null}>
      <Histogram buckets={buckets} show={show} />
      <form className="range" onSubmit={submit}>
        {(['from', 'to'] as const).map((end) => (
          <span key={end}>
            <label htmlFor={`${id}-${end}`} className={kind === 'date' ? undefined : 'hidden'}>
              <span className="hidden">{legend}: </span>
              {filtersTexts[end]}
            </label>
            <input
              id={`${id}-${end}`}
              type={kind}
              step={kind === 'number' ? 'any' : undefined}
              min={kind === 'number' ? 0 : undefined}
              placeholder={filtersTexts[end]}
              value={current[end]}
              {...fieldProps(end)}
              onChange={(event) => setDraft({ ...current, [end]: event.target.value })}
            />
          </span>
        ))}
        <button type="submit" aria-label={`${filtersTexts.apply}: ${legend}`}>
          {filtersTexts.apply}
        </button>
        {message}
      </form>
    </FilterGroup>
  );
}

function Histogram({
  buckets,
  show,
}: {
  buckets: Bucket[];
  show: (bound: string | number) => string;
}) {
  const first = buckets.findIndex((bucket) => bucket.assets);
  const last = buckets.findLastIndex((bucket) => bucket.assets);
  const shown = buckets.slice(first, last + 1);
  const [begin, end] = [shown[0], shown.at(-1)];
  if (first < 0 || !begin || !end) return null;
  const highest = Math.max(...shown.map((bucket) => bucket.assets));
  const [least, most] = [show(begin.from ?? 0), show(end.to ?? end.from ?? 0)];
  const summary = shown
    .filter((bucket) => bucket.assets)
    // Of one day, only times differ.
    .map(
      (bucket) =>
        `${formatBucket(bucket, show, least === most)}: ${pluralize(bucket.assets, 'asset', 'assets')}`,
    );
  return (
    <>
      <svg
        className="bars"
        viewBox={`0 0 ${shown.length * 10} 30`}
        preserveAspectRatio="none"
        role="img"
      >
        <title>{summary.join(', ')}</title>
        {shown.map(({ assets }, at) => {
          const height = assets ? Math.max(2, (assets / highest) * 30) : 0;
          return <rect key={at} x={at * 10 + 0.5} y={30 - height} width={9} height={height} />;
        })}
      </svg>
      <p className="bounds" aria-hidden="true">
        <span>{least}</span>
        {/* Buckets of hours are of one day. */}
        {most !== least && <span>{most}</span>}
      </p>
    </>
  );
}

function formatBucket(
  { from, to }: Bucket,
  show: (bound: string | number) => string,
  ofOneDay: boolean,
): string {
  if (typeof from === 'string') return ofOneDay ? formatDateTime(from) : show(from);
  return `${show(from ?? 0)} – ${to === null ? '…' : show(to)}`;
}

function scaled(bounds: Bounds, by: number): Bounds;
function scaled(bounds: Bounds | null, by: number): Bounds | null;
function scaled(bounds: Bounds | null, by: number): Bounds | null {
  if (!bounds || by === 1) return bounds;
  const [from, to] = bounds.map((bound) =>
    typeof bound === 'number' ? Number((bound * by).toPrecision(12)) : bound,
  );
  return [from ?? null, to ?? null];
}

const textOf = (value: Bound | undefined): string => (value == null ? '' : String(value));

function boundOf(text: string, kind: 'number' | 'date'): Bound {
  if (!text) return null;
  return kind === 'number' ? Number(text) : text;
}
