import { ApiError, mayPass, sentence } from '../api/errors';
import { texts } from '../texts';
import { reload } from './part';

/** Shows what went wrong in one sentence, with a way to go on if there is one. */
export function Failure({ error, reset }: { error: unknown; reset?: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <p>{sentence(error)}</p>
      {reset && <TryAgain error={error} onClick={reset} />}
      {/* A failure of the page itself: a refusal would be the same after a reload. */}
      {!mayPass(error) && !(error instanceof ApiError) && (
        <button type="button" onClick={() => void reload()}>
          {texts.reload}
        </button>
      )}
    </div>
  );
}

/** Offers another try where it may help: what the server refuses, it refuses again. */
export function TryAgain({ error, onClick }: { error: unknown; onClick: () => void }) {
  if (!mayPass(error)) return null;
  return (
    <button type="button" onClick={onClick}>
      {texts.tryAgain}
    </button>
  );
}
