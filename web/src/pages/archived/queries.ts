import { infiniteQueryOptions } from '@tanstack/react-query';
import { toCard, type Hit } from '../../api/hits';
import { pollWhileLagging, search } from '../../api/search';

const PAGE = 25;

/** The archived assets that the user may see, the last changed first. */
export const archivedQuery = infiniteQueryOptions({
  queryKey: ['search', 'archived'],
  queryFn: async ({ pageParam, signal }) => {
    const result = await search(
      {
        query: '',
        from: pageParam,
        size: PAGE,
        includeArchived: true,
        previews: true,
        filters: [{ query_string: { query: 'bool_archived:true' } }],
        entityTypes: ['asset'],
        sort: [{ field: 'date_lastmodified', order: 'desc', type: 'date' }],
      },
      signal,
    );
    const cards = result.reply.hits.hits.map((hit) => toCard(hit as Hit));
    return { ...result, cards };
  },
  initialPageParam: 0,
  getNextPageParam: ({ reply }, _pages, from) =>
    from + PAGE < reply.hits.total.value ? from + PAGE : undefined,
  refetchInterval: ({ state }) => pollWhileLagging(state.data?.pages[0]),
});
