import { sentence } from '../api/errors';
import { texts } from '../texts';

/** Shows what went wrong in one sentence, with a way to go on. */
export function Failure({ error, reset }: { error: unknown; reset?: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <p>{sentence(error)}</p>
      <button type="button" onClick={reset ?? (() => location.reload())}>
        {reset ? texts.tryAgain : texts.reload}
      </button>
    </div>
  );
}
