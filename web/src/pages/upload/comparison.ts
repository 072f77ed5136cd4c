import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { api, reply } from '../../api/client';
import { createStore, useStore } from '../../api/createStore';
import { errorText } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import { queryClient } from '../../api/queries';
import type { Place } from '../../api/downloads';
import type { LocalFile } from './localFiles';
import { Hashing } from './hashing';

/**
 * How a chosen file compares with the file at its path in the asset. `same`: equal by SHA-256.
 * `alike`: of the same size, and nothing else can be compared.
 */
export type FileStatus = 'new' | 'comparing' | 'same' | 'alike' | 'replaces';
export const FILE_STATUSES = ['new', 'replaces', 'same', 'alike', 'comparing'] as const;

type Sizes = ReadonlyMap<string, number>;
const NONE: Sizes = new Map();
const AT_ONCE = 4;
/** Milliseconds between two updates of the page: thousands of files are compared. */
const PAUSE = 200;

/** The sizes of the files that the asset has, by path. */
export const fileSizesQuery = (place: Place) =>
  queryOptions({
    queryKey: ['files', place.databaseId, place.assetId, 'sizes'],
    queryFn: async ({ signal }) => {
      const sizes = new Map<string, number>();
      const read = (startingToken?: string) =>
        reply(
          api.GET('/database/{databaseId}/assets/{assetId}/listFiles', {
            params: { path: place, query: { basic: true, pageSize: 1000, startingToken } },
            signal,
          }),
        );
      for await (const page of pagesOf(read)) {
        for (const item of page.items) {
          if (item.size != null) sizes.set(`/${item.relativePath.replace(/^\/+/, '')}`, item.size);
        }
      }
      return sizes;
    },
    // Another tab or program may have uploaded meanwhile.
    staleTime: 0,
  });

const fileInfoQuery = (place: Place, filePath: string) =>
  queryOptions({
    queryKey: ['files', place.databaseId, place.assetId, 'content', filePath],
    queryFn: ({ signal }) =>
      reply(
        api.GET('/database/{databaseId}/assets/{assetId}/fileInfo', {
          params: { path: place, query: { filePath } },
          signal,
        }),
      ),
    gcTime: 0, // thousands of files are compared once each
  });

/** Compares the contents of files with those at their paths, some at once. */
export class ContentComparison {
  readonly results = createStore<ReadonlyMap<File, FileStatus>>(new Map());
  private readonly statuses = new Map<File, FileStatus>();
  private readonly busy = new Set<File>();
  private waiting: LocalFile[] = [];
  private hashing: Hashing | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private ended = false;

  constructor(private readonly place: Place) {}

  /** Compares these files, and no longer those that were given before. */
  compare(files: readonly LocalFile[]): void {
    this.ended = false;
    this.waiting = files.filter(({ file }) => !this.statuses.has(file) && !this.busy.has(file));
    for (let at = this.busy.size; at < Math.min(AT_ONCE, files.length); at++) void this.work();
  }

  end(): void {
    this.ended = true;
    this.waiting = [];
    this.hashing?.end();
    this.hashing = null;
  }

  private async work(): Promise<void> {
    for (let next = this.waiting.shift(); next; next = this.waiting.shift()) {
      this.busy.add(next.file);
      // A file that cannot be compared is sent, and the upload reports what is wrong.
      const status = await this.fileStatus(next).catch((): FileStatus => 'alike');
      this.busy.delete(next.file);
      if (this.ended) return;
      this.statuses.set(next.file, status);
      this.timer ??= setTimeout(() => {
        this.timer = null;
        this.results.set(new Map(this.statuses));
      }, PAUSE);
    }
  }

  private async fileStatus({ file, path }: LocalFile): Promise<FileStatus> {
    const { checksumSha256 } = await queryClient.query(fileInfoQuery(this.place, path));
    if (!checksumSha256) return 'alike';
    this.hashing ??= new Hashing();
    return (await this.hashing.sha256(file)) === checksumSha256 ? 'same' : 'replaces';
  }
}

/** Of files for an asset: what they are to it. */
export function fileStatus(
  { file, path }: LocalFile,
  sizes: Sizes,
  statuses: ReadonlyMap<File, FileStatus>,
): FileStatus {
  const size = sizes.get(path);
  if (size === undefined) return 'new';
  return size === file.size ? (statuses.get(file) ?? 'comparing') : 'replaces';
}

export interface Comparison {
  /** By path; empty while the list of the asset's files is not known. */
  statuses: ReadonlyMap<string, FileStatus>;
  sizes: Sizes;
  /** Why the asset's files could not be listed. */
  failure: string;
  listing: boolean;
}

/** Compares chosen files with those that the asset has, as soon as both are known. */
export function useComparison(place: Place | null, files: readonly LocalFile[]): Comparison {
  const { databaseId = '', assetId = '' } = place ?? {};
  const enabled = place !== null && files.length > 0;
  const sizesResult = useQuery({ ...fileSizesQuery({ databaseId, assetId }), enabled });
  const contents = useMemo(
    () => new ContentComparison({ databaseId, assetId }),
    [databaseId, assetId],
  );
  const contentStatuses = useStore(contents.results);
  const sizes = (enabled && sizesResult.data) || NONE;
  useEffect(() => {
    contents.compare(files.filter(({ file, path }) => sizes.get(path) === file.size));
  }, [contents, files, sizes]);
  useEffect(() => () => contents.end(), [contents]);
  const statuses = useMemo(
    () =>
      enabled && sizesResult.data
        ? new Map(files.map((file) => [file.path, fileStatus(file, sizes, contentStatuses)]))
        : new Map<string, FileStatus>(),
    [enabled, sizesResult.data, files, sizes, contentStatuses],
  );
  return {
    statuses,
    sizes,
    failure: enabled && sizesResult.isError ? errorText(sizesResult.error) : '',
    listing: enabled && sizesResult.isPending,
  };
}

/** How many files have each mark. */
export function countStatuses(statuses: Iterable<FileStatus>): Record<FileStatus, number> {
  const totals = { new: 0, comparing: 0, same: 0, alike: 0, replaces: 0 };
  for (const status of statuses) totals[status]++;
  return totals;
}
