import type { File } from '../../api/assets';

export interface Folder {
  name: string;
  path: string;
  folders: Folder[];
  files: File[];
}

/** Returns files as a tree of folders, both by name; folders without files are there, too. */
export function buildTree(files: readonly File[]): Folder {
  const root: Folder = { name: '', path: '/', folders: [], files: [] };
  const known = new Map([['/', root]]);
  const folderAt = (path: string): Folder => {
    const found = known.get(path);
    if (found) return found;
    const end = path.lastIndexOf('/', path.length - 2);
    const folder = { name: path.slice(end + 1, -1), path, folders: [], files: [] };
    known.set(path, folder);
    folderAt(path.slice(0, end + 1)).folders.push(folder);
    return folder;
  };
  for (const file of files) {
    const path = `/${file.relativePath.replace(/^\/+/, '')}`;
    if (file.isFolder) folderAt(path.endsWith('/') ? path : `${path}/`);
    else folderAt(path.slice(0, path.lastIndexOf('/') + 1)).files.push(file);
  }
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  for (const folder of known.values()) {
    folder.folders.sort((one, other) => compare(one.name, other.name));
    folder.files.sort((one, other) => compare(one.fileName, other.fileName));
  }
  return root;
}

const MODELS = /\.(glb|gltf|obj|fbx|stl|ply|step|stp|dae|3ds|blend|las|laz|e57|usdz)$/i;
const IMAGES = /\.(png|jpe?g|webp|gif)$/i;

/** The file to show first: the primary one, else a model, else an image, else the first. */
export function firstFile(files: readonly File[]): File | undefined {
  const shown = files.filter((each) => !each.isFolder && !each.isArchived);
  return (
    shown.find((each) => each.primaryType === 'primary') ??
    shown.find((each) => /\.(glb|gltf)$/i.test(each.fileName)) ??
    shown.find((each) => MODELS.test(each.fileName)) ??
    shown.find((each) => IMAGES.test(each.fileName)) ??
    shown[0]
  );
}
