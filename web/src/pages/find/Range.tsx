import { useId, useState, type SyntheticEvent } from 'react';
import { texts } from '../../texts';
import { plural } from '../../ui/formats';

type Bound = string | number | null;
type Bounds = [Bound, Bound];

interface Bucket {
  from: Bound;
  to: Bound;
  assets: number;
}

/** Bounds of a number or a date, with the distribution of the hits above them. */
export function Range(props: {
  legend: string;
  kind: 'number' | 'date';
  value: Bounds | null;
  /** What the numbers that a person enters are multiplied by. */
  scale?: number;
  buckets: Bucket[];
  label?: (from: Bound, to: Bound) => string;
  onChange: (value: Bounds | undefined) => void;
}) {
  const { legend, kind, buckets, label, onChange, scale = 1 } = props;
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
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const bounds: Bounds = [boundOf(current.from, kind), boundOf(current.to, kind)];
    onChange(bounds[0] === null && bounds[1] === null ? undefined : scaled(bounds, scale));
  };
  return (
    <fieldset className="field">
      <legend>{legend}</legend>
      {label && <Bars buckets={buckets} label={label} />}
      <form className="range" onSubmit={submit}>
        {(['from', 'to'] as const).map((end) => (
          <span key={end}>
            <label htmlFor={`${id}-${end}`} className="hidden">
              {`${legend}: ${texts.find[end]}`}
            </label>
            <input
              id={`${id}-${end}`}
              type={kind}
              step={kind === 'number' ? 'any' : undefined}
              min={kind === 'number' ? 0 : undefined}
              placeholder={texts.find[end]}
              value={current[end]}
              onChange={(event) => setDraft({ ...current, [end]: event.target.value })}
            />
          </span>
        ))}
        <button type="submit" aria-label={`${texts.find.apply}: ${legend}`}>
          {texts.find.apply}
        </button>
      </form>
    </fieldset>
  );
}

function Bars({
  buckets,
  label,
}: {
  buckets: Bucket[];
  label: (from: Bound, to: Bound) => string;
}) {
  const most = Math.max(...buckets.map((each) => each.assets), 1);
  if (!buckets.some((each) => each.assets)) return null;
  const summary = buckets
    .filter((each) => each.assets)
    .map((each) => `${label(each.from, each.to)}: ${plural(each.assets, 'asset', 'assets')}`);
  return (
    <svg
      className="bars"
      viewBox={`0 0 ${buckets.length * 10} 30`}
      preserveAspectRatio="none"
      role="img"
    >
      <title>{summary.join(', ')}</title>
      {buckets.map(({ assets }, at) => {
        const height = assets ? Math.max(2, (assets / most) * 30) : 0;
        return <rect key={at} x={at * 10 + 0.5} y={30 - height} width={9} height={height} />;
      })}
    </svg>
  );
}

function scaled(bounds: Bounds, by: number): Bounds;
function scaled(bounds: Bounds | null, by: number): Bounds | null;
function scaled(bounds: Bounds | null, by: number): Bounds | null {
  if (!bounds || by === 1) return bounds;
  const [from, to] = bounds.map((each) =>
    typeof each === 'number' ? Number((each * by).toPrecision(12)) : each,
  );
  return [from ?? null, to ?? null];
}

const textOf = (value: Bound | undefined): string => (value == null ? '' : String(value));

function boundOf(text: string, kind: 'number' | 'date'): Bound {
  if (!text) return null;
  return kind === 'number' ? Number(text) : text;
}
