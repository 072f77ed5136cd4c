import { api, reply } from '../../api/client';
import { ApiError } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import type { Place } from '../../api/downloads';
import type { LocalFile } from './localFiles';
import { partSizes } from './parts';

export interface Part {
  PartNumber: number;
  ETag: string;
}

/** A file of an upload: where its parts go, and those that are stored already. */
export interface UploadTarget {
  relativeKey: string;
  uploadIdS3: string;
  numParts: number;
  partUploadUrls: { PartNumber: number; UploadUrl: string }[];
  stored: Part[];
}

export interface StartedUpload {
  uploadId: string;
  files: UploadTarget[];
}

type Md5 = (content: Blob) => Promise<string>;

const PAGES = 3;
const COMPARED = 5;
/** The parts are one object already: nothing compares their ETags any more. */
const ASSEMBLED = 'assembled';
const GONE = [400, 403, 404, 409, 410, 413];

/**
 * Returns the open upload of this file that an earlier try, tab or machine has started, or null.
 *
 * The server lists it, so that nothing is kept in the browser. A stored part counts if its ETag is
 * the MD5 of the file's own content there; others are sent again.
 */
export async function findOpenUpload(
  place: Place,
  local: LocalFile,
  md5: Md5,
): Promise<StartedUpload | null> {
  const uploads = await nullIfGone(openUploads(place, local.file.size));
  for (const uploadId of uploads ?? []) {
    const response = await nullIfGone(continueUpload(uploadId, local, md5));
    if (response) return response;
  }
  return null;
}

/** Null for an upload that was completed, deleted or taken away meanwhile. */
async function nullIfGone<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && GONE.includes(error.status)) return null;
    throw error;
  }
}

/** Large files have an upload each. */
async function openUploads({ databaseId, assetId }: Place, size: number): Promise<string[]> {
  const uploadIds: string[] = [];
  let pages = 0;
  const read = (startingToken?: string) =>
    reply(api.GET('/uploads', { params: { query: { pageSize: 100, startingToken } } }));
  for await (const page of pagesOf(read)) {
    const same = page.items.filter(
      (upload) =>
        upload.state === 'open' &&
        upload.uploadType === 'assetFile' &&
        upload.databaseId === databaseId &&
        upload.assetId === assetId &&
        upload.files === 1 &&
        upload.size === size,
    );
    uploadIds.push(...same.map((upload) => upload.uploadId));
    if (++pages === PAGES) break;
  }
  return uploadIds.slice(0, COMPARED);
}

async function continueUpload(
  uploadId: string,
  local: LocalFile,
  md5: Md5,
): Promise<StartedUpload | null> {
  const params = { path: { uploadId } };
  const details = await reply(api.GET('/uploads/{uploadId}', { params }));
  const open = details.files.find(
    (file) =>
      file.relativeKey === local.path &&
      file.state === 'open' &&
      file.file_size === local.file.size,
  );
  if (!open) return null;
  const renew = async (partRanges: { first: number; last: number }[], storedParts: boolean) => {
    const files = [{ relativeKey: local.path, partRanges }];
    const renewed = await reply(
      api.POST('/uploads/{uploadId}/renew', { params, body: { files, storedParts } }),
    );
    return renewed.files[0];
  };
  const upload = await renew([], true);
  if (!upload) return null;
  const numbers = Array.from({ length: upload.numParts }, (_, at) => at + 1);
  if (upload.assembled) {
    const stored = numbers.map((PartNumber) => ({ PartNumber, ETag: ASSEMBLED }));
    return { uploadId, files: [{ ...upload, partUploadUrls: [], stored }] };
  }
  const stored = await verifiedParts(upload, local.file, md5);
  if (!stored.length) return null; // another file
  const missing = numbers.filter((number) => !stored.some((part) => part.PartNumber === number));
  const ranges = missing.map((number) => ({ first: number, last: number }));
  const rest = ranges.length ? await renew(ranges, false) : undefined;
  return { uploadId, files: [{ ...upload, partUploadUrls: rest?.partUploadUrls ?? [], stored }] };
}

/** The stored parts that have the content of the file. */
async function verifiedParts(
  upload: { numParts: number; storedParts?: (Part & { Size: number })[] },
  file: Blob,
  md5: Md5,
): Promise<Part[]> {
  const sizes = partSizes(file.size, upload.numParts);
  const starts = sizes.map((_, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0));
  const stored: Part[] = [];
  for (const { PartNumber, ETag, Size } of upload.storedParts ?? []) {
    const start = starts[PartNumber - 1];
    if (start === undefined || sizes[PartNumber - 1] !== Size) continue;
    const etag = ETag.replaceAll('"', '');
    if ((await md5(file.slice(start, start + Size))) !== etag) continue;
    stored.push({ PartNumber, ETag: etag });
  }
  return stored;
}
