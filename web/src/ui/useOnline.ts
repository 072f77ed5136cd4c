import { useSyncExternalStore } from 'react';

const subscribe = (changed: () => void): (() => void) => {
  const ending = new AbortController();
  for (const event of ['online', 'offline']) {
    addEventListener(event, changed, { signal: ending.signal });
  }
  return () => ending.abort();
};

/** False while the browser knows that it has no connection. */
const isOnline = (): boolean => navigator.onLine;

export const useOnline = (): boolean => useSyncExternalStore(subscribe, isOnline);

/** Waits until there is a connection, or until the signal ends the waiting. */
export async function waitUntilOnline(signal: AbortSignal): Promise<void> {
  while (!isOnline() && !signal.aborted) {
    await new Promise<void>((resolve) => {
      const stop = subscribe(() => {
        stop();
        resolve();
      });
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
