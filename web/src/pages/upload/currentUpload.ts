import { createStore } from '../../api/createStore';
import type { Place } from '../../api/downloads';
import { session } from '../../session/session';
import type { UploadRun } from './uploadRun';

export interface CurrentUpload {
  run: UploadRun;
  place: Place;
  /** What the page of uploads was opened for. */
  requested: { database?: string; asset?: string; folder?: string };
}

/** The upload that runs, or ended last: it goes on while its user is on other pages. */
export const currentUpload = createStore<CurrentUpload | null>(null);

/** Stops the upload, if it still runs, and forgets it. */
export function removeUpload(): void {
  currentUpload.current()?.run.end();
  currentUpload.set(null);
}

let { generation } = session.current();
session.subscribe(() => {
  if (session.current().generation !== generation) removeUpload();
  ({ generation } = session.current());
});

// Closing the tab would stop it.
addEventListener('beforeunload', (event) => {
  if (currentUpload.current()?.run.progress.current().running) event.preventDefault();
});
