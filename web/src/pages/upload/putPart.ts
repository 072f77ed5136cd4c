import { StorageError } from '../../api/errors';

/** Longer than a slow line needs for what the system sends without a report of progress. */
const IDLE_TIMEOUT = 120_000;

/** Sends a part to its presigned address, and returns its ETag. (fetch reports no progress.) */
export function putPart(
  url: string,
  content: Blob,
  signal: AbortSignal,
  onProgress: (bytes: number) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    // A connection that ended while the computer slept may not say so.
    const timeOut = (): void => {
      settle(() => reject(new StorageError(0)));
      request.abort();
    };
    let timer = setTimeout(timeOut, IDLE_TIMEOUT);
    const settle = (then: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      then();
    };
    request.upload.onprogress = (event) => {
      clearTimeout(timer);
      timer = setTimeout(timeOut, IDLE_TIMEOUT);
      onProgress(event.loaded);
    };
    request.onload = () =>
      settle(() => {
        const etag = request.getResponseHeader('etag')?.replaceAll('"', '');
        if (request.status < 300 && etag) resolve(etag);
        else reject(new StorageError(request.status));
      });
    request.onerror = () => settle(() => reject(new StorageError(0)));
    request.onabort = () => settle(() => reject(new DOMException('Stopped', 'AbortError')));
    signal.addEventListener('abort', abort);
    request.open('PUT', url);
    request.send(content);
  });
}
