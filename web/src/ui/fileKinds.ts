/** Which viewer shows a file, by its extension. */
export type FileKind = 'model' | 'image' | 'video' | 'text' | 'other';

const BY_EXTENSION: Record<string, FileKind> = Object.fromEntries([
  ...['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp'].map(
    (extension) => [extension, 'image'] as const,
  ),
  ...['mp4', 'webm', 'mov', 'm4v'].map((extension) => [extension, 'video'] as const),
  ...['txt', 'md', 'json', 'csv', 'log', 'yaml', 'yml', 'mtl', 'xml', 'html', 'svg', 'ini'].map(
    (extension) => [extension, 'text'] as const,
  ),
  ...['zip', 'gz', 'tar', '7z', 'bin', 'pdf', 'doc', 'docx', 'mp3', 'wav'].map(
    (extension) => [extension, 'other'] as const,
  ),
]);

export function fileExtension(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

/** A file without another viewer may be a model: the server has a GLB of it, or the reason why not. */
export const fileKind = (path: string): FileKind => BY_EXTENSION[fileExtension(path)] ?? 'model';

export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Whether the page itself reads the format, so that animations play. */
export const isGltf = (path: string): boolean => /^(glb|gltf)$/.test(fileExtension(path));
