import { texts } from '../../texts';
import { filtersTexts } from '../../texts/filters';
import { UserText } from '../../ui/UserText';
import { factByKey, keyLabel } from '../../ui/facts';
import { formatNumber, formatDate, formatBytes } from '../../texts/formats';
import { FACETS, toggleFacet, withoutFilters, type FindState } from './findState';
import { valueLabel } from './facetValues';
import type { ChangeSearch } from './useChangeSearch';

interface Filter {
  name: string;
  without: (before: FindState) => FindState;
}

/** The chosen filters, each of which a press removes: also where their column is folded. */
export function ActiveFilters(props: { state: FindState; change: ChangeSearch }) {
  const { state, change } = props;
  const filters = activeFilters(state);
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
          <UserText text={name} line /> ×
        </button>
      ))}
      <button type="button" className="quiet small" onClick={() => change(withoutFilters)}>
        {texts.find.clear}
      </button>
    </div>
  );
}

const withoutField = (field: keyof FindState) => (before: FindState) => ({
  ...before,
  [field]: undefined,
});

function activeFilters(state: FindState): Filter[] {
  const values = FACETS.flatMap((facet) =>
    (state.facets?.[facet] ?? []).map((value) => ({
      name: `${filtersTexts.facets[facet]}: ${valueLabel(value)}`,
      without: (before: FindState) => toggleFacet(before, facet, value),
    })),
  );
  const { triangles, size: sizes, date, taken, meta = [] } = state;
  const ranges = [
    triangles && {
      name: `${filtersTexts.triangles}: ${formatRange(triangles, formatNumber)}`,
      without: withoutField('triangles'),
    },
    sizes && {
      name: `${filtersTexts.fileSize}: ${formatRange(sizes, formatBytes)}`,
      without: withoutField('size'),
    },
    date && {
      name: `${filtersTexts.date}: ${formatRange(date, formatDay)}`,
      without: withoutField('date'),
    },
    taken && {
      name: `${filtersTexts.taken}: ${formatRange(taken, formatDay)}`,
      without: withoutField('taken'),
    },
  ].filter((range) => range !== undefined);
  const conditions = meta.map(({ key, op, value }, at) => ({
    name: `${keyLabel(key)} ${filtersTexts.ops[op]} ${conditionValue(key, value)}`.trim(),
    without: (before: FindState) => ({
      ...before,
      meta: meta.length > 1 ? meta.filter((_, other) => other !== at) : undefined,
    }),
  }));
  const archived = state.archived
    ? [{ name: filtersTexts.archived, without: withoutField('archived') }]
    : [];
  return [...values, ...ranges, ...conditions, ...archived];
}

const conditionValue = (key: string, value = ''): string =>
  factByKey(key)?.type === 'boolean' ? valueLabel(value === 'true') : value;

/** A day as it was entered: without a time, it would be midnight in Greenwich. */
const formatDay = (iso: string): string => formatDate(`${iso}T00:00`);

function formatRange<T>([from, to]: [T | null, T | null], show: (bound: T) => string): string {
  if (from === null) return to === null ? '' : filtersTexts.upTo(show(to));
  return to === null ? filtersTexts.atLeast(show(from)) : `${show(from)} – ${show(to)}`;
}
