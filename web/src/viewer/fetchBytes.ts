import { NetworkError, StorageError } from '../api/errors';
import { fetchWithIdleTimeout } from '../api/idleTimeout';
import { texts } from '../texts';

const LARGE = 100_000_000;

/** The file is so large that a person decides whether to load it. */
export class LargeFileError extends Error {
  constructor(readonly bytes: number) {
    super(`The file has ${bytes} bytes`);
  }
}

/** Fetches a presigned address; asks before more than 100 MB, by LargeFileError. */
export async function fetchBytes(
  url: string,
  options: { signal: AbortSignal; large: boolean; progress?: (fraction: number) => void },
): Promise<ArrayBuffer> {
  const throwNetworkError = (failure: unknown): never => {
    throw options.signal.aborted ? failure : new NetworkError();
  };
  const response = await fetchWithIdleTimeout(url, { signal: options.signal }).catch(
    throwNetworkError,
  );
  if (!response.ok) throw new StorageError(response.status);
  const length = Number(response.headers.get('content-length') ?? 0);
  if (length > LARGE && !options.large) {
    await response.body?.cancel();
    throw new LargeFileError(length);
  }
  if (!response.body || !length) return response.arrayBuffer().catch(throwNetworkError);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let received = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(throwNetworkError);
    if (done) break;
    chunks.push(value);
    received += value.length;
    options.progress?.(received / length);
  }
  return new Blob(chunks).arrayBuffer().catch(() => {
    throw new Error(texts.errors.tooLarge);
  });
}
