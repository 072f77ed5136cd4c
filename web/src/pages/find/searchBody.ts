import type { components } from '../../api/schema';
import type { SearchBody } from '../../api/search';
import { defaultSort, endOfDay, type FindState } from './findState';

type Filter = components['schemas']['MetadataFilter'];
type SortField = components['schemas']['SortField'];

/** More than a large window shows; each hit takes the server time to sign the picture's address. */
export const PAGE = 50;
/** Hits that can be reached page by page. */
export const REACHABLE = 10_000;

/** Powers of ten, as the server counts sizes. */
const TRIANGLES = [100, 1e3, 1e4, 1e5, 1e6, 1e7, null].map((to, at) => ({
  ...(at > 0 && { from: 10 ** (at + 1) }),
  ...(to !== null && { to }),
}));

/** The request for a page of hits; the first page also counts the facets. */
export function searchBody(
  state: FindState,
  page: number,
  facts: boolean,
  conditions: readonly Filter[] = [],
): SearchBody {
  const first = page === 0;
  return {
    query: state.q ?? '',
    from: page * PAGE,
    size: PAGE,
    foldFiles: true,
    fileCounts: true,
    includeArchived: state.archived ?? false,
    previews: true,
    includeHighlights: false,
    aggregations: first,
    didYouMean: first,
    facetChoices: Object.entries(state.facets ?? {}).map(([facet, values]) => ({ facet, values })),
    filters: [...boundsFilter('num_filesize', state.size), ...daysFilter(state.date)],
    metadataFilters: [
      ...numberFilters('fact_triangles', state.triangles),
      ...dayFilters('fact_taken', state.taken),
      ...conditions,
    ],
    metadataFacets:
      first && facts
        ? [
            { key: 'fact_format', size: 20 },
            { key: 'fact_watertight', size: 2 },
            { key: 'fact_unit', size: 20 },
            { key: 'fact_triangles', size: 1, ranges: TRIANGLES },
            { key: 'fact_taken', size: 1 },
          ]
        : [],
    histograms: first ? ['num_filesize', 'date_lastmodified'] : [],
    sort: sortFields(state),
  };
}

function sortFields(state: FindState): SortField[] {
  const sort = state.sort ?? defaultSort(state);
  switch (sort) {
    case 'newest':
      return [{ field: 'date_lastmodified', order: 'desc', type: 'date' }];
    case 'oldest':
      return [{ field: 'date_lastmodified', order: 'asc', type: 'date' }];
    case 'name':
      return [{ field: 'str_assetname', order: 'asc', type: 'string' }];
    case 'nameDown':
      return [{ field: 'str_assetname', order: 'desc', type: 'string' }];
    case 'database':
      return [
        { field: 'str_databaseid', order: 'asc', type: 'string' },
        { field: 'str_assetname', order: 'asc', type: 'string' },
      ];
    case undefined:
      return [];
    default:
      return columnSort(sort);
  }
}

function columnSort(sort: string): SortField[] {
  const isDown = sort.startsWith('-');
  const order = isDown ? 'desc' : 'asc';
  const field = isDown ? sort.slice(1) : sort;
  // A key may have values of several types: numbers come first.
  return field.startsWith('metadata.')
    ? (['number', 'string'] as const).map((type) => ({ field, order, type }))
    : [{ field, order }];
}

function boundsFilter(field: string, range: FindState['size']) {
  if (!range) return [];
  const [from, to] = range;
  return [{ query_string: { query: `${field}:[${from ?? '*'} TO ${to ?? '*'}]` } }];
}

function daysFilter(range: FindState['date']) {
  if (!range) return [];
  const [from, to] = range;
  return [{ query_string: { query: `date_lastmodified:[${from ?? '*'} TO ${to ?? '*'}]` } }];
}

function numberFilters(key: string, range: FindState['triangles']): Filter[] {
  if (!range) return [];
  const [from, to] = range;
  if (from !== null && to !== null) return [{ key, op: 'between', value: [from, to] }];
  return [{ key, op: from === null ? 'lte' : 'gte', value: from ?? to }];
}

function dayFilters(key: string, range: FindState['taken']): Filter[] {
  const [from, to] = range ?? [null, null];
  const filters: Filter[] = [];
  if (from !== null) filters.push({ key, op: 'gte', value: from, type: 'date' });
  if (to !== null) filters.push({ key, op: 'lte', value: endOfDay(to), type: 'date' });
  return filters;
}
