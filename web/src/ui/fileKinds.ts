import declared from '../api/declared.json';

/** Which viewer shows a file, by its extension. */
type FileKind =
  | 'model'
  | 'splats'
  | 'image'
  | 'video'
  | 'audio'
  | 'pdf'
  | 'table'
  | 'markdown'
  | 'code'
  | 'text'
  | 'other';

const VIEWERS = new Map(Object.entries(declared.viewers as Record<string, FileKind>));

export function fileExtension(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

/** A file without another viewer may be a model: the server has a GLB of it, or the reason why not. */
export const fileKind = (path: string): FileKind => VIEWERS.get(fileExtension(path)) ?? 'model';

export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Whether the page itself reads the format, so that animations play. */
export const isGltf = (path: string): boolean => /^(glb|gltf)$/.test(fileExtension(path));

/** Whether it is a cloud that is read in parts, by the ending that its writers give it. */
export const isCopc = (path: string): boolean => /\.copc\.laz$/i.test(path);
