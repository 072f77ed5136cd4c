import { StorageError } from '../../api/errors';

/** Sends a part to its presigned address, and returns its ETag. (fetch reports no progress.) */
export function put(
  url: string,
  content: Blob,
  signal: AbortSignal,
  moved: (bytes: number) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    const over = (then: () => void): void => {
      signal.removeEventListener('abort', abort);
      then();
    };
    request.upload.onprogress = (event) => moved(event.loaded);
    request.onload = () =>
      over(() => {
        const etag = request.getResponseHeader('etag')?.replaceAll('"', '');
        if (request.status < 300 && etag) resolve(etag);
        else reject(new StorageError(request.status));
      });
    request.onerror = () => over(() => reject(new StorageError(0)));
    request.onabort = () => over(() => reject(new DOMException('Stopped', 'AbortError')));
    signal.addEventListener('abort', abort);
    request.open('PUT', url);
    request.send(content);
  });
}
