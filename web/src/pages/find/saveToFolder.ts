import { errorText, isRetryable, NetworkError } from '../../api/errors';
import { selectionTexts } from '../../texts/selection';
import { targetName, type LeftOut, type Target } from './selectedFiles';
import { entryNames, openFile, type Progress } from './zip';

type Picker = (options: { mode: 'readwrite' }) => Promise<FileSystemDirectoryHandle>;

/** Lets the user choose a folder of the user's disk; undefined where the browser cannot write into one. */
export const folderPicker = (): Picker | undefined => {
  const picker: unknown = Reflect.get(window, 'showDirectoryPicker');
  return typeof picker === 'function' ? (picker.bind(window) as Picker) : undefined;
};

/**
 * Writes files into a folder. A file is there as a whole or not at all: those of the same size that
 * are not older are kept, so that a download that was interrupted goes on where it was.
 */
export async function saveToFolder(
  root: FileSystemDirectoryHandle,
  targets: readonly Target[],
  { signal, at }: Progress,
  folder?: string,
): Promise<{ failed: LeftOut[] }> {
  const failed: LeftOut[] = [];
  const names = entryNames(targets, folder);
  for (const [done, target] of targets.entries()) {
    at(done);
    try {
      await saveFileTo(root, names[done] ?? '', target, signal);
    } catch (error) {
      signal.throwIfAborted();
      const onDisk = error instanceof DOMException;
      failed.push({
        name: targetName(target),
        reason: onDisk ? selectionTexts.notWritten : errorText(error),
        again: onDisk || isRetryable(error),
      });
    }
  }
  return { failed };
}

async function saveFileTo(
  root: FileSystemDirectoryHandle,
  path: string,
  target: Target,
  signal: AbortSignal,
): Promise<void> {
  const folders = path.split('/');
  const name = folders.pop() ?? '';
  let parent = root;
  for (const folder of folders) parent = await parent.getDirectoryHandle(folder, { create: true });
  const before = await parent.getFileHandle(name).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'NotFoundError') return null;
    throw error;
  });
  if (before && isKept(await before.getFile(), target)) return;
  const { body } = await openFile(target, signal);
  const file = before ?? (await parent.getFileHandle(name, { create: true }));
  const writable = await file.createWritable();
  try {
    // Closing it replaces the file; before that, the file is what it was.
    if (body) await body.pipeTo(writable, { signal });
    else await writable.close();
  } catch (error) {
    if (!before) await parent.removeEntry(name);
    throw error instanceof TypeError ? new NetworkError() : error;
  }
}

const isKept = (file: File, { size, changedAt }: Target): boolean =>
  file.size === size && !(file.lastModified < Date.parse(changedAt ?? ''));
