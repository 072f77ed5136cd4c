import { api, reply } from './client';
import { ApiError, NetworkError, StorageError } from './errors';
import { fetchWithIdleTimeout } from './idleTimeout';
import type { Missing } from './pictures';

export interface Place {
  databaseId: string;
  assetId: string;
}

/** An earlier content of a file, by itself or as a version of its asset has it. */
export interface FileVersion {
  versionId: string;
  /** For the files that it refers to. */
  assetVersionId?: string;
}

/** Returns a presigned address of a file, its newest content by default, to show or to save it. */
export async function downloadUrl(
  { databaseId, assetId }: Place,
  path: string,
  { attachment = false, version }: { attachment?: boolean; version?: FileVersion } = {},
): Promise<string> {
  const response = await reply(
    api.POST('/database/{databaseId}/assets/{assetId}/download', {
      params: { path: { databaseId, assetId } },
      body: {
        downloadType: 'assetFile',
        key: path,
        attachment,
        ...(version && { versionId: version.versionId }),
      },
    }),
  );
  return response.downloadUrl;
}

/** Returns a presigned address of a preview's file, or of the asset's own preview. */
export async function previewUrl(place: Place, path: string | null): Promise<string> {
  if (path !== null) return downloadUrl(place, path);
  const { databaseId, assetId } = place;
  const response = await reply(
    api.POST('/database/{databaseId}/assets/{assetId}/download', {
      params: { path: { databaseId, assetId } },
      body: { downloadType: 'assetPreview' },
    }),
  );
  return response.downloadUrl;
}

/** Returns the addresses of those of the files that the asset has, by one request. */
export async function companionUrls(
  { databaseId, assetId }: Place,
  paths: string[],
  assetVersionId?: string,
): Promise<Map<string, string>> {
  if (!paths.length) return new Map();
  try {
    const { files } = await reply(
      api.POST('/database/{databaseId}/assets/{assetId}/download', {
        params: { path: { databaseId, assetId } },
        body: { downloadType: 'assetFile', keys: paths, assetVersionId },
      }),
    );
    return new Map(
      (files ?? []).flatMap(({ key, downloadUrl }) => (downloadUrl ? [[key, downloadUrl]] : [])),
    );
  } catch (error) {
    // None of them can be downloaded.
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) return new Map();
    throw error;
  }
}

export interface DerivedGlb {
  glb?: { url: string; size: number; current: boolean; versionId: string } | null;
  turntable?: { url: string } | null;
  structure?: { url: string } | null;
  glbMissing?: Missing | null;
}

/** Returns the newest GLB that was made of a file with its turntable, or why there is none. */
export async function fetchDerivedGlb(place: Place, path: string): Promise<DerivedGlb> {
  return reply(
    api.GET('/database/{databaseId}/assets/{assetId}/files/glb', {
      params: { path: place, query: { key: path } },
    }),
  );
}

/** Why an element of the page did not load an address: it says nothing itself. Null if it is there. */
export async function fetchLoadError(url: string): Promise<Error | null> {
  try {
    // Not from the cache: what an element loaded lacks the headers of CORS.
    const options: RequestInit = { headers: { range: 'bytes=0-0' }, cache: 'no-store' };
    const response = await fetchWithIdleTimeout(url, options);
    await response.body?.cancel();
    return response.ok ? null : new StorageError(response.status);
  } catch {
    return new NetworkError();
  }
}
