import { texts } from '../../texts';
import { filtersTexts } from '../../texts/filters';
import { Name } from '../../ui/Name';
import { factOf, keyLabel } from '../../ui/facts';
import { count, day, size } from '../../ui/formats';
import { FACETS, toggled, withoutFilters, type FindState } from './state';
import { nameOf } from './values';

interface Filter {
  name: string;
  without: FindState;
}

/** The chosen filters, each of which a press removes: also where their column is folded. */
export function Chosen(props: { state: FindState; change: (next: FindState) => void }) {
  const { state, change } = props;
  const filters = filtersOf(state);
  if (!filters.length) return null;
  return (
    <div role="group" aria-label={filtersTexts.chosen} className="chosen-filters">
      {filters.map(({ name, without }) => (
        <button
          key={name}
          type="button"
          className="chip"
          aria-label={filtersTexts.remove(name)}
          onClick={() => change(without)}
        >
          <Name text={name} line /> ×
        </button>
      ))}
      <button type="button" className="quiet small" onClick={() => change(withoutFilters(state))}>
        {texts.find.clear}
      </button>
    </div>
  );
}

function filtersOf(state: FindState): Filter[] {
  const values = FACETS.flatMap((facet) =>
    (state.facets?.[facet] ?? []).map((value) => ({
      name: `${filtersTexts.facets[facet]}: ${nameOf(value)}`,
      without: toggled(state, facet, value),
    })),
  );
  const { triangles, size: sizes, date, taken, meta = [] } = state;
  const ranges = [
    triangles && {
      name: `${filtersTexts.triangles}: ${rangeOf(triangles, count)}`,
      without: { ...state, triangles: undefined },
    },
    sizes && {
      name: `${filtersTexts.fileSize}: ${rangeOf(sizes, size)}`,
      without: { ...state, size: undefined },
    },
    date && {
      name: `${filtersTexts.date}: ${rangeOf(date, chosenDay)}`,
      without: { ...state, date: undefined },
    },
    taken && {
      name: `${filtersTexts.taken}: ${rangeOf(taken, chosenDay)}`,
      without: { ...state, taken: undefined },
    },
  ].filter((each) => each !== undefined);
  const conditions = meta.map(({ key, op, value }, at) => ({
    name: `${keyLabel(key)} ${filtersTexts.ops[op]} ${wordOf(key, value)}`.trim(),
    without: {
      ...state,
      meta: meta.length > 1 ? meta.filter((_, other) => other !== at) : undefined,
    },
  }));
  const archived = state.archived
    ? [{ name: filtersTexts.archived, without: { ...state, archived: undefined } }]
    : [];
  return [...values, ...ranges, ...conditions, ...archived];
}

const wordOf = (key: string, value = ''): string =>
  factOf(key)?.type === 'boolean' ? nameOf(value === 'true') : value;

/** A day as it was entered: without a time, it would be midnight in Greenwich. */
const chosenDay = (iso: string): string => day(`${iso}T00:00`);

function rangeOf<T>([from, to]: [T | null, T | null], show: (bound: T) => string): string {
  if (from === null) return to === null ? '' : filtersTexts.upTo(show(to));
  return to === null ? filtersTexts.atLeast(show(from)) : `${show(from)} – ${show(to)}`;
}
