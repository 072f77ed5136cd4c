import { sentence } from '../api/errors';
import { TryAgain } from './Failure';

export interface Query {
  error: unknown;
  refetch: () => unknown;
}

/** Why a part of a page could not be loaded, with another try where that may help. */
export function Failed({ found }: { found: Query }) {
  if (!found.error) return null;
  return (
    <p className="failure" role="alert">
      {sentence(found.error)} <TryAgain error={found.error} onClick={() => void found.refetch()} />
    </p>
  );
}
