import { api, replyWithHeaders } from '../../api/client';
import { JobFailedError } from '../../api/errors';
import { pollJob } from '../../api/jobs';
import { recordWrite } from '../../api/writes';
import declared from '../../api/declared.json';
import { brokenRule } from '../../api/nameRules';
import type { components } from '../../api/schema';
import { filesTexts } from '../../texts/files';
import { uploadTexts } from '../../texts/upload';
import { visibleName, compareNames } from '../../texts/formats';
import { fileExtension, fileName } from '../../ui/fileKinds';
import type { Place } from '../../api/downloads';

const MAX_BYTES = declared.files.maxDestinationBytes;

export type Act = 'rename' | 'move' | 'copy' | 'archive' | 'restore' | 'delete';

/** A file or a folder (whose path ends in `/`) of the tree. */
export interface Subject {
  path: string;
  /** Of a folder: all its files are. */
  isArchived: boolean;
  /** A folder some of whose files are archived. */
  hasArchived?: boolean;
  /** Only what was archived at that time or later is restored. */
  archivedSince?: string;
}

export const isFolder = ({ path }: Subject): boolean => path.endsWith('/');

/** Whether the act needs another name or place. */
export const isTransfer = (act: Act): boolean => ['rename', 'move', 'copy'].includes(act);

/** What can be done with it. Folders are moved file by file. */
export function allowedActs(subject: Subject): readonly Act[] {
  if (subject.isArchived) return ['restore', 'delete'];
  if (isFolder(subject)) {
    const restore: readonly Act[] = subject.hasArchived ? ['restore'] : [];
    return ['rename', 'move', 'archive', ...restore, 'delete'];
  }
  return ['rename', 'move', 'copy', 'archive', 'delete'];
}

/** Where a file is to be: its name, and its folder without the slashes around it. */
export interface Draft {
  name: string;
  folder: string;
  /** The asset of a copy, if it is another one. */
  target: Place | null;
}

/** The folders of files, with those that they are in, by name and without the slashes around. */
export function listFolders(
  files: readonly { relativePath: string; isFolder: boolean }[],
): string[] {
  const folders = new Set<string>();
  for (const { relativePath, isFolder: itself } of files) {
    const segments = relativePath.split('/').filter(Boolean);
    const depth = itself ? segments.length : segments.length - 1;
    for (let end = 1; end <= depth; end++) folders.add(segments.slice(0, end).join('/'));
  }
  return [...folders].sort(compareNames);
}

export const parentFolder = (path: string): string =>
  path.slice(1, Math.max(path.lastIndexOf('/'), 1));

/** The first draft of an act; of a move by dragging, with the folder that it leads to. */
export function toDraft(act: Act, subject: Subject, folder?: string): Draft {
  const path = subject.path.replace(/\/$/, '');
  const draft = { name: fileName(path), folder: folder ?? parentFolder(path), target: null };
  return act === 'copy'
    ? { ...draft, name: filesTexts.copyName(...splitExtension(draft.name)) }
    : draft;
}

/** A name without its extension, and the extension with its dot. */
export function splitExtension(name: string): [string, string] {
  const extension = fileExtension(name);
  const end = extension ? name.length - extension.length - 1 : name.length;
  return [name.slice(0, end), name.slice(end)];
}

/** The path of a draft; repeated slashes of its folder, and those around it, count once. */
export const destinationPath = ({ name, folder }: Draft): string =>
  `/${[...folder.split('/').filter(Boolean), name].join('/')}`.normalize('NFC');

interface DraftError {
  text: string;
  field: 'name' | 'asset';
}

/** Why a draft cannot be sent, and its wrong field. What only the server knows, it says itself. */
export function validateDraft(draft: Draft, subject: Subject): DraftError | null {
  const { required, asset } = uploadTexts;
  const words = filesTexts;
  const folder = isFolder(subject);
  const wrong = (text: string): DraftError => ({ text, field: 'name' });
  if (!draft.name.trim()) return wrong(required(folder ? words.newFolderName : words.name));
  if (draft.name.includes('/')) return wrong(words.slash);
  if (draft.target && !draft.target.assetId) return { text: required(asset), field: 'asset' };
  const destination = destinationPath(draft);
  for (const name of destination.slice(1).split('/')) {
    const fact = brokenRule(name);
    if (fact !== null) return wrong(words.badName(visibleName(name), fact));
  }
  const isLong = new TextEncoder().encode(destination).length > MAX_BYTES;
  if (isLong) return wrong(words.longPath(MAX_BYTES));
  if (draft.target) return null;
  if (!folder) return destination === subject.path ? wrong(words.same) : null;
  if (`${destination}/` === subject.path) return wrong(words.sameFolder);
  return `${destination}/`.startsWith(subject.path) ? wrong(words.within) : null;
}

const ROUTE = '/database/{databaseId}/assets/{assetId}';
/** Milliseconds by which the clocks of the server and its storage may differ. */
const CLOCKS = 2_000;
type Changed = components['schemas']['FilesChangedReply'];

/**
 * Changes a file or folder. `onJob` is called if the change outlasts its request; it is complete
 * when the promise is kept, or has failed when it is broken. Returns a time of the server before
 * which the change had not started.
 */
export async function changeFile(
  place: Place,
  act: Act,
  subject: Subject,
  draft: Draft,
  onJob: () => void,
): Promise<string> {
  const start = performance.now();
  const { data, headers } = await sendChange(place, act, subject, draft);
  const replied = Date.parse(headers.get('date') ?? '') || Date.now();
  const since = new Date(replied - (performance.now() - start) - CLOCKS).toISOString();
  try {
    if (data.jobId) onJob();
    const job = data.jobId ? await pollJob(data.jobId) : null;
    // Files of a folder that cannot be restored are named, and the others are.
    const isPartial = act === 'restore' && (job?.problems.length ?? 0) > 0;
    if (job && (job.state !== 'done' || isPartial)) throw new JobFailedError(job.problems);
  } finally {
    recordWrite(headers);
  }
  return since;
}

function sendChange(
  place: Place,
  act: Act,
  subject: Subject,
  draft: Draft,
): Promise<{ data: Changed; headers: Headers }> {
  const params = { path: { databaseId: place.databaseId, assetId: place.assetId } };
  const filePath = subject.path;
  const transfer = { sourcePath: filePath, destinationPath: destinationPath(draft) };
  const target = { filePath, isPrefix: isFolder(subject) };
  switch (act) {
    case 'rename':
    case 'move':
      return replyWithHeaders(api.POST(`${ROUTE}/moveFile`, { params, body: transfer }));
    case 'copy': {
      const { databaseId, assetId } = draft.target ?? place;
      const to = { destinationDatabaseId: databaseId, destinationAssetId: assetId };
      return replyWithHeaders(
        api.POST(`${ROUTE}/copyFile`, { params, body: { ...transfer, ...to } }),
      );
    }
    case 'archive':
      return replyWithHeaders(api.DELETE(`${ROUTE}/archiveFile`, { params, body: target }));
    case 'restore':
      if (isFolder(subject)) {
        const body = { folderPath: filePath, archivedSince: subject.archivedSince };
        return replyWithHeaders(api.POST(`${ROUTE}/unarchiveFolder`, { params, body }));
      }
      return replyWithHeaders(api.POST(`${ROUTE}/unarchiveFile`, { params, body: { filePath } }));
    case 'delete':
      return replyWithHeaders(
        api.DELETE(`${ROUTE}/deleteFile`, {
          params,
          body: { ...target, confirmPermanentDelete: true },
        }),
      );
  }
}
