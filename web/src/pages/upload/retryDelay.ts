import { ApiError, StorageError } from '../../api/errors';

/** The longest wait that a server is believed: a person would stop the upload before. */
const MOST = 300;
const BUSY = [429, 503];

/** Whether a server has more to do than it can at the moment. */
export const isBusy = (error: unknown): boolean =>
  (error instanceof ApiError || error instanceof StorageError) && BUSY.includes(error.status);

/** How long to wait before the next try, in milliseconds: as long as the server says, or longer each time. */
export function retryDelay(error: unknown, attempt: number): number {
  const after = error instanceof ApiError ? error.retryAfter : null;
  return Math.min(after ?? 2 ** attempt, MOST) * 1000;
}

/** Waits, or until the signal ends the waiting. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const stop = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true });
  });
}
