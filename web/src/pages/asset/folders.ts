import { queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import { ApiError, isTransient, isRetryable, errorText, SignedOutError } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import { filesTexts } from '../../texts/files';
import { fileName } from '../../ui/fileKinds';
import type { Place } from '../../api/downloads';
import { changeFile, toDraft, parentFolder } from './fileChanges';

const ROUTE = '/database/{databaseId}/assets/{assetId}';
const PAGE = 1000;
const TRIES = 3;
const PAUSE = 1_000;

/** What is in a folder, by paths. Archived files stay where they are when it is moved. */
export interface FolderContent {
  files: string[];
  archived: number;
  /** Folders that nothing is in. */
  empty: string[];
}

/** A file that a move has left in its folder. */
export interface NotMoved {
  path: string;
  reason: string;
  /** Another try may succeed. */
  again: boolean;
}

/** With archived files, a folder that has only such files is listed, too, and is not empty. */
export async function fetchFolderContent(
  place: Place,
  folder: string,
  includeArchived = false,
): Promise<FolderContent> {
  const [files, folders] = [new Array<string>(), new Array<string>()];
  const archived: string[] = [];
  const read = (startingToken?: string) => {
    const query = { prefix: folder, basic: true, includeArchived, pageSize: PAGE };
    const params = { path: place, query: { ...query, maxItems: PAGE, startingToken } };
    return reply(api.GET(`${ROUTE}/listFiles`, { params }));
  };
  for await (const page of pagesOf(read)) {
    for (const { relativePath, isFolder, isArchived } of page.items) {
      const path = `/${relativePath.replace(/^\/+|\/+$/g, '')}`;
      if (isFolder) folders.push(`${path}/`);
      else if (isArchived) archived.push(path);
      else files.push(path);
    }
  }
  const used = new Set([...files, ...archived, ...folders].map(parentOf));
  return { files, archived: archived.length, empty: folders.filter((path) => !used.has(path)) };
}

/** The folder that a file or folder is in. */
const parentOf = (path: string): string =>
  path.slice(0, path.lastIndexOf('/', path.length - 2) + 1);

export const folderContentQuery = (place: Place, folder: string) =>
  queryOptions({
    queryKey: ['files', place.databaseId, place.assetId, 'folder', folder],
    queryFn: () => fetchFolderContent(place, folder, true),
    staleTime: 0,
  });

interface Options {
  signal: AbortSignal;
  /** Before each file, with the number of those before it. */
  at: (done: number, of: number) => void;
}

/**
 * Moves the files of a folder, one after another, as the API moves files; folders end in `/`.
 * Returns what it has left there, with the reasons, as the list of files says at the end.
 */
export async function moveFolder(
  place: Place,
  from: string,
  to: string,
  { signal, at }: Options,
): Promise<NotMoved[]> {
  const { files, empty } = await fetchFolderContent(place, from);
  const moved = (path: string) => to + path.slice(from.length);
  const reasons = new Map<string, Omit<NotMoved, 'path'>>();
  let ended: unknown = null;
  for (const [done, path] of files.entries()) {
    at(done, files.length);
    if (signal.aborted || ended) break;
    try {
      await withRetries(() => moveFile(place, path, moved(path)));
    } catch (error) {
      reasons.set(path, { reason: errorText(error), again: isRetryable(error) });
      // All others would fail like this one.
      if (error instanceof SignedOutError || isTransient(error)) ended = error;
    }
  }
  const others = { reason: ended ? errorText(ended) : filesTexts.notTried, again: true };
  const left = await fetchFolderContent(place, from).catch(() => null);
  // A reply that was lost may be that of a move that was made: the list knows.
  const paths = left?.files ?? files.filter((path) => reasons.has(path));
  if (left && !paths.length && !signal.aborted) {
    try {
      for (const path of empty) await createFolder(place, moved(path));
      if (left.empty.length) await archiveFolder(place, from);
    } catch (error) {
      return [{ path: from, reason: errorText(error), again: isRetryable(error) }];
    }
  }
  return paths.map((path) => ({ path, ...(reasons.get(path) ?? others) }));
}

async function moveFile(place: Place, from: string, to: string): Promise<void> {
  const draft = { ...toDraft('move', { path: from, isArchived: false }), target: null };
  const destination = { ...draft, name: fileName(to), folder: parentFolder(to) };
  await changeFile(place, 'move', { path: from, isArchived: false }, destination, () => null);
}

/** Repeats what may succeed a little later, as while the asset's files are being changed. */
async function withRetries(act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await act();
      return;
    } catch (error) {
      const isBusy = error instanceof ApiError && error.code === 'FilesBusy';
      if (!(isBusy || isTransient(error)) || attempt >= TRIES) throw error;
      const after = error instanceof ApiError ? error.retryAfter : null;
      await new Promise((resolve) => setTimeout(resolve, after ? after * 1000 : attempt * PAUSE));
    }
  }
}

async function createFolder(place: Place, relativeKey: string): Promise<void> {
  const sent = api.POST(`${ROUTE}/createFolder`, {
    params: { path: place },
    body: { relativeKey },
  });
  await reply(sent).catch((error: unknown) => {
    // A folder that is there already is as good.
    if (!(error instanceof ApiError && error.code === 'FileExists')) throw error;
  });
}

/** Hides the folder itself, which is listed without a file if somebody has created it. */
async function archiveFolder(place: Place, path: string): Promise<void> {
  const subject = { path, isArchived: false };
  await changeFile(place, 'archive', subject, toDraft('archive', subject), () => null);
}
