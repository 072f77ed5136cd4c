import { ApiError, isRetryable, errorText } from '../api/errors';
import { texts } from '../texts';
import { reloadPage } from './lazyComponent';

/** Shows what went wrong in one sentence, with a way to go on if there is one. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <p>{errorText(error)}</p>
      {onRetry && <RetryButton error={error} onClick={onRetry} />}
      {/* A failure of the page itself: a refusal would be the same after a reload. */}
      {!isRetryable(error) && !(error instanceof ApiError) && (
        <button type="button" onClick={() => void reloadPage()}>
          {texts.reload}
        </button>
      )}
    </div>
  );
}

/** Offers another try where it may help: what the server refuses, it refuses again. */
export function RetryButton({ error, onClick }: { error: unknown; onClick: () => void }) {
  if (!isRetryable(error)) return null;
  return (
    <button type="button" onClick={onClick}>
      {texts.tryAgain}
    </button>
  );
}
