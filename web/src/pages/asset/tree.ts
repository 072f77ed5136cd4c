import type { File } from '../../api/assets';
import declared from '../../api/declared.json';
import { compareNames } from '../../texts/formats';
import { fileExtension, fileKind, isGltf } from '../../ui/fileKinds';

export interface Folder {
  name: string;
  path: string;
  folders: Folder[];
  files: File[];
  /** How many files are in it and in its folders, and how many of them are archived. */
  total: number;
  archived: number;
}

/** Returns files as a tree of folders, both by name; folders without files are there, too. */
export function buildTree(files: readonly File[]): Folder {
  const root: Folder = { name: '', path: '/', folders: [], files: [], total: 0, archived: 0 };
  const byPath = new Map([['/', root]]);
  const folderAt = (path: string): Folder => {
    const existing = byPath.get(path);
    if (existing) return existing;
    const end = path.lastIndexOf('/', path.length - 2);
    const name = path.slice(end + 1, -1);
    const folder = { name, path, folders: [], files: [], total: 0, archived: 0 };
    byPath.set(path, folder);
    folderAt(path.slice(0, end + 1)).folders.push(folder);
    return folder;
  };
  for (const file of files) {
    const path = `/${file.relativePath.replace(/^\/+/, '')}`;
    if (file.isFolder) folderAt(path.endsWith('/') ? path : `${path}/`);
    else folderAt(path.slice(0, path.lastIndexOf('/') + 1)).files.push(file);
  }
  for (const folder of byPath.values()) {
    folder.folders.sort((a, b) => compareNames(a.name, b.name));
    folder.files.sort((a, b) => compareNames(a.fileName, b.fileName));
  }
  countFiles(root);
  return root;
}

function countFiles(folder: Folder): void {
  folder.total = folder.files.length;
  folder.archived = folder.files.filter((file) => file.isArchived).length;
  for (const inner of folder.folders) {
    countFiles(inner);
    folder.total += inner.total;
    folder.archived += inner.archived;
  }
}

const MODELS = new Set(declared.models);

/** The file to show first: the primary one, else a model, else an image, else the first. */
export function firstFile(files: readonly File[]): File | undefined {
  const shown = files.filter((file) => !file.isFolder && !file.isArchived);
  return (
    shown.find((file) => file.primaryType === 'primary') ??
    shown.find((file) => isGltf(file.fileName)) ??
    shown.find((file) => MODELS.has(fileExtension(file.fileName))) ??
    shown.find((file) => fileKind(file.fileName) === 'image') ??
    shown[0]
  );
}
