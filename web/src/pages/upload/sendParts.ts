import { api, reply } from '../../api/client';
import { StorageError } from '../../api/errors';
import { partSizes } from './parts';
import type { Part, UploadTarget } from './openUploads';
import { putPart } from './putPart';

const PARTS_AT_ONCE = 3;
/** Of an address that has ended: after an hour, while the upload was paused or the computer slept. */
const ENDED = 403;

interface Sending {
  uploadId: string;
  signal: AbortSignal;
  withRetries: <T>(act: () => Promise<T>) => Promise<T>;
  /** The bytes of the file that are stored, or on their way. */
  onProgress: (bytes: number) => void;
}

/** Sends the parts of a file that are not stored yet, and returns all of them. */
export async function sendParts(
  file: File,
  target: UploadTarget,
  sending: Sending,
): Promise<Part[]> {
  const { signal, withRetries } = sending;
  const sizes = partSizes(file.size, target.numParts);
  const starts = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0));
  const onProgress = sizes.map((size, at) =>
    target.stored.some((part) => part.PartNumber === at + 1) ? size : 0,
  );
  const report = () => sending.onProgress(onProgress.reduce((sum, bytes) => sum + bytes, 0));
  report();
  const waiting = target.partUploadUrls.filter(({ PartNumber }) => sizes[PartNumber - 1]);
  const parts: Part[] = [...target.stored];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { PartNumber, UploadUrl } = next;
      const start = starts[PartNumber - 1] ?? 0;
      const content = file.slice(start, start + (sizes[PartNumber - 1] ?? 0));
      const send = (url: string) =>
        withRetries(() =>
          putPart(url, content, signal, (bytes) => {
            onProgress[PartNumber - 1] = bytes;
            report();
          }),
        );
      const ETag = await send(UploadUrl).catch(async (error: unknown) => {
        if (!(error instanceof StorageError) || error.status !== ENDED) throw error;
        return send(await withRetries(() => renewPartUrl(sending.uploadId, target, PartNumber)));
      });
      parts.push({ PartNumber, ETag });
    }
  };
  await Promise.all(
    Array.from({ length: PARTS_AT_ONCE }, () =>
      work().catch((error: unknown) => {
        waiting.length = 0; // without one of its parts, the others are of no use
        throw error;
      }),
    ),
  );
  return parts.sort((a, b) => a.PartNumber - b.PartNumber);
}

/** A new address for a part. */
async function renewPartUrl(
  uploadId: string,
  target: UploadTarget,
  partNumber: number,
): Promise<string> {
  const { relativeKey } = target;
  const files = [{ relativeKey, partRanges: [{ first: partNumber, last: partNumber }] }];
  const params = { path: { uploadId } };
  const response = await reply(
    api.POST('/uploads/{uploadId}/renew', { params, body: { files, storedParts: false } }),
  );
  const url = response.files[0]?.partUploadUrls.find(
    (signed) => signed.PartNumber === partNumber,
  )?.UploadUrl;
  if (!url) throw new StorageError(ENDED);
  return url;
}
