import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, reply, replyWithHeaders } from '../../api/client';
import type { File } from '../../api/assets';
import type { Place } from '../../api/downloads';
import { waitForWrite } from '../../api/jobs';
import { pagesOf } from '../../api/pages';
import type { components } from '../../api/schema';

type Schemas = components['schemas'];
export type ListedVersion = Schemas['ListedVersion'];
export type VersionFile = Schemas['VersionFile'];
export type FileVersionItem = Schemas['FileVersion'];
export type Comparison = Schemas['CompareReply'];

/** A version with all its files and records. */
export type WholeVersion = Schemas['WholeVersionReply'];

const ROUTE = '/database/{databaseId}/assets/{assetId}';
/** The version that the server gives to each new asset: no one has created one. */
export const FIRST_VERSION = '0';
const PAGE = 50;

// The keys begin as that of the files does: an upload changes what differs from a version.
const keyOf = (place: Place, ...rest: unknown[]) => [
  'files',
  place.databaseId,
  place.assetId,
  'versions',
  ...rest,
];

/** The versions that people have created, newest first. */
export const versionsQuery = (place: Place) =>
  infiniteQueryOptions({
    queryKey: keyOf(place),
    queryFn: ({ pageParam }) =>
      reply(
        api.GET(`${ROUTE}/getVersions`, {
          params: {
            path: place,
            query: {
              showArchived: true,
              pageSize: PAGE,
              maxItems: PAGE,
              startingToken: pageParam ?? undefined,
            },
          },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.NextToken ?? undefined,
    select: ({ pages }) =>
      pages.flatMap((page) => page.versions).filter(({ Version: id }) => id !== FIRST_VERSION),
  });

export const versionQuery = (place: Place, assetVersionId: string) =>
  queryOptions({
    queryKey: keyOf(place, 'one', assetVersionId),
    queryFn: () => readVersion(place, assetVersionId),
  });

export async function readVersion(place: Place, assetVersionId: string): Promise<WholeVersion> {
  let whole: WholeVersion | null = null;
  const read = (startingToken?: string) =>
    reply(
      api.GET(`${ROUTE}/getVersion/{assetVersionId}`, {
        params: { path: { ...place, assetVersionId }, query: { startingToken } },
      }),
    );
  for await (const page of pagesOf(read)) {
    if (!whole) whole = page;
    else {
      whole.files.push(...page.files);
      whole.versionedMetadata.push(...page.versionedMetadata);
    }
  }
  if (!whole) throw new Error();
  return whole;
}

/** The differences between two versions, as far as they are loaded. */
export const comparisonQuery = (place: Place, from: string, to: string) =>
  infiniteQueryOptions({
    queryKey: keyOf(place, 'differences', from, to),
    queryFn: ({ pageParam }) =>
      reply(
        api.GET(`${ROUTE}/compareVersions`, {
          params: { path: place, query: { from, to, startingToken: pageParam ?? undefined } },
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.NextToken ?? undefined,
  });

export interface FileDifference {
  path: string;
  before: number | null;
  after: number | null;
  /** The contents of a changed file that differ; without the second one it is the newest. */
  versions?: { before: string; after?: string } | undefined;
}

/** What the files of a version and those of now have different, by path. */
export interface FileDifferences {
  added: FileDifference[];
  removed: FileDifference[];
  changed: FileDifference[];
}

const pathOf = (relative: string): string => `/${relative.replace(/^\/+/, '')}`;

/** How the files of now differ from those of a version. */
export function differencesSince(
  version: readonly VersionFile[],
  now: readonly File[],
): FileDifferences {
  const differences: FileDifferences = { added: [], removed: [], changed: [] };
  const current = new Map(
    now
      .filter((file) => !file.isFolder && !file.isArchived)
      .map((file) => [pathOf(file.relativePath), file]),
  );
  for (const { relativeKey, versionId, size } of version) {
    const path = pathOf(relativeKey);
    const file = current.get(path);
    current.delete(path);
    const before = size ?? null;
    if (!file) differences.removed.push({ path, before, after: null });
    else if (file.versionId !== versionId)
      differences.changed.push({
        path,
        before,
        after: file.size ?? null,
        versions: { before: versionId },
      });
  }
  for (const [path, file] of current)
    differences.added.push({ path, before: null, after: file.size ?? null });
  return differences;
}

/** The differences between the files of a version and those of now. */
export const differencesSinceQuery = (place: Place, assetVersionId: string) =>
  queryOptions({
    queryKey: keyOf(place, 'since', assetVersionId),
    queryFn: async () => {
      const [version, files] = await Promise.all([
        readVersion(place, assetVersionId),
        readFiles(place),
      ]);
      return { ...differencesSince(version.files, files), version };
    },
    staleTime: 0,
  });

/** Without their details the list names no versions. */
async function readFiles(place: Place): Promise<File[]> {
  const files: File[] = [];
  const read = (startingToken?: string) =>
    reply(
      api.GET(`${ROUTE}/listFiles`, {
        params: { path: place, query: { basic: false, startingToken } },
      }),
    );
  for await (const page of pagesOf(read)) files.push(...page.items);
  return files;
}

/** The contents that a file had, newest first. */
export const fileVersionsQuery = (place: Place, filePath: string) =>
  queryOptions({
    queryKey: keyOf(place, 'of file', filePath),
    queryFn: async () => {
      const info = await reply(
        api.GET(`${ROUTE}/fileInfo`, {
          params: { path: place, query: { filePath, includeVersions: true } },
        }),
      );
      return info.versions ?? [];
    },
  });

export interface CreatedVersion {
  id: string;
  /** Files that were left out: they were deleted, or are quarantined. */
  skipped: readonly string[];
}

/** Called if the change outlasts its request, with its number. */
type OnJob = () => void;

async function created(
  request: Promise<{ data: Schemas['VersionReply']; headers: Headers }>,
  onJob: OnJob,
): Promise<CreatedVersion> {
  const { data, headers } = await request;
  if (data.jobId) onJob();
  await waitForWrite(headers, data.jobId);
  return { id: data.assetVersionId ?? '', skipped: data.skippedFiles ?? [] };
}

/** Creates a version of the files and metadata as they are now. */
export const createVersion = (
  place: Place,
  { comment, alias }: { comment: string; alias: string },
  onJob: OnJob,
): Promise<CreatedVersion> =>
  created(
    replyWithHeaders(
      api.POST(`${ROUTE}/createVersion`, {
        params: { path: place },
        body: { comment, useLatestFiles: true, versionAlias: alias || undefined },
      }),
    ),
    onJob,
  );

/** Gives the files the content that they have in a version. */
export const revertVersion = (
  place: Place,
  assetVersionId: string,
  body: { comment: string; revertMetadata: boolean },
  onJob: OnJob,
): Promise<CreatedVersion> =>
  created(
    replyWithHeaders(
      api.POST(`${ROUTE}/revertAssetVersion/{assetVersionId}`, {
        params: { path: { ...place, assetVersionId } },
        body,
      }),
    ),
    onJob,
  );

export async function updateVersion(
  place: Place,
  assetVersionId: string,
  body: { comment?: string; versionAlias?: string },
): Promise<void> {
  const { headers } = await replyWithHeaders(
    api.PUT(`${ROUTE}/assetversions/{assetVersionId}`, {
      params: { path: { ...place, assetVersionId } },
      body,
    }),
  );
  await waitForWrite(headers, null);
}

/** Gives a file an earlier content as its newest one. */
export async function revertFile(place: Place, filePath: string, versionId: string): Promise<void> {
  const { data, headers } = await replyWithHeaders(
    api.POST(`${ROUTE}/revertFileVersion/{versionId}`, {
      params: { path: { ...place, versionId } },
      body: { filePath },
    }),
  );
  await waitForWrite(headers, data.jobId);
}
