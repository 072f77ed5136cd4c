import { errorText } from '../api/errors';
import { RetryButton } from './ErrorNotice';

export interface FailedQuery {
  error: unknown;
  refetch: () => unknown;
}

/** Why a part of a page could not be loaded, with another try where that may help. */
export function InlineError({ query }: { query: FailedQuery }) {
  if (!query.error) return null;
  return (
    <p className="failure" role="alert">
      {errorText(query.error)}{' '}
      <RetryButton error={query.error} onClick={() => void query.refetch()} />
    </p>
  );
}
