interface PagedQuery {
  hasNextPage: boolean;
  isFetching: boolean;
  fetchNextPage: () => unknown;
}

/** Loads the next page of a list, if there is one. */
export function MoreButton({ query, text }: { query: PagedQuery; text: string }) {
  if (!query.hasNextPage) return null;
  return (
    <button type="button" disabled={query.isFetching} onClick={() => void query.fetchNextPage()}>
      {text}
    </button>
  );
}
