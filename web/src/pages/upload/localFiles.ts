import { fileName } from '../../ui/fileKinds';

/** A file that someone chose, and its path in the asset. */
export interface LocalFile {
  file: File;
  path: string;
  /** The name of the folder that was chosen, which is not in the path. */
  folder?: string;
}

/** What a new asset of these files may be called: as their folder, or the only file. */
export function suggestedName(files: readonly LocalFile[]): string {
  const folder = files.find((file) => file.folder)?.folder;
  if (folder) return folder;
  const [first, ...others] = files;
  return first && !others.length ? fileName(first.path).replace(/(?<=.)\.[^.]*$/, '') : '';
}

/** Files of a picker: those of a folder have their path in it, below the folder's own name. */
export function fromPicker(files: FileList): LocalFile[] {
  return [...files].map((file) => {
    const [folder, ...path] = file.webkitRelativePath.split('/');
    return path.length
      ? { file, path: pathOf(path.join('/')), folder }
      : { file, path: pathOf(file.name) };
  });
}

/** Files of a drop, with those in folders, however many a folder has. */
export async function fromDrop(items: DataTransferItemList): Promise<LocalFile[]> {
  // The list is emptied once the event is over: entries are taken at once.
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const onlyEntry = entries.length === 1 ? entries[0] : undefined;
  if (onlyEntry?.isDirectory) {
    const files = await filesInFolder(onlyEntry as FileSystemDirectoryEntry, '');
    return files.map((file) => ({ ...file, folder: onlyEntry.name }));
  }
  return (await Promise.all(entries.map((entry) => filesBelow(entry, '')))).flat();
}

async function filesBelow(entry: FileSystemEntry, folder: string): Promise<LocalFile[]> {
  if (entry.isDirectory) {
    return filesInFolder(entry as FileSystemDirectoryEntry, `${folder}${entry.name}/`);
  }
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  return [{ file, path: pathOf(folder + entry.name) }];
}

async function filesInFolder(
  entry: FileSystemDirectoryEntry,
  folder: string,
): Promise<LocalFile[]> {
  const reader = entry.createReader();
  const files: LocalFile[] = [];
  for (;;) {
    // A reader returns a hundred entries at a time, and none at the end.
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (!entries.length) return files;
    for (const entry of entries) files.push(...(await filesBelow(entry, folder)));
  }
}

/** Paths in assets are NFC, and begin with a slash. */
const pathOf = (path: string): string => `/${path.normalize('NFC')}`;
