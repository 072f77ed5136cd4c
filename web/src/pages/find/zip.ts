import { downloadZip } from 'client-zip';
import { isRetryable, NetworkError, errorText, StorageError } from '../../api/errors';
import { fetchWithIdleTimeout } from '../../api/idleTimeout';
import { downloadUrl } from '../../api/downloads';
import { targetName, type LeftOut, type Target } from './selectedFiles';

export interface Progress {
  signal: AbortSignal;
  /** Before each file, with the number of those before it. */
  at: (done: number) => void;
}

/**
 * Packs files, each in the folder of its asset, or those of one folder under its name. Files that
 * cannot be read are left out.
 */
export async function createZip(
  targets: readonly Target[],
  { signal, at }: Progress,
  folder?: string,
): Promise<{ zip: Blob | null; failed: LeftOut[] }> {
  const failed: LeftOut[] = [];
  const names = entryNames(targets, folder);
  async function* entries() {
    for (const [done, target] of targets.entries()) {
      at(done);
      try {
        const input = await read(target, signal);
        yield { name: names[done], input };
      } catch (error) {
        signal.throwIfAborted();
        failed.push({
          name: targetName(target),
          reason: errorText(error),
          again: isRetryable(error),
        });
      }
    }
  }
  const zip = await downloadZip(entries()).blob();
  return { zip: failed.length < targets.length ? zip : null, failed };
}

/**
 * The paths of files in a download: each in the folder of its asset, or those of one folder under its
 * name. All parts are names as any system accepts them, and no two are alike.
 */
export function entryNames(targets: readonly Target[], folder?: string): string[] {
  const folders = assetFolders(targets);
  const names = new Set<string>();
  return targets.map(({ card, path }) => {
    const inAsset = path ?? '';
    const start = folder === undefined ? 0 : folder.lastIndexOf('/', folder.length - 2);
    const parts = inAsset.slice(start + 1).split('/');
    const safe = parts.map((part) => portableName(part) || '_').join('/');
    const whole = folder === undefined ? `${folders.get(card.id) ?? ''}/${safe}` : safe;
    const [, stem = whole, extension = ''] = /^(.*[^/])(\.[^./]+)$/.exec(whole) ?? [];
    let name = whole;
    for (let number = 2; names.has(name.toLowerCase()); number++)
      name = `${stem} (${number})${extension}`;
    names.add(name.toLowerCase());
    return name;
  });
}

/** The name of the folder of a path that ends in `/`, as any system accepts it. */
export const folderName = (folder: string): string =>
  portableName(folder.slice(folder.lastIndexOf('/', folder.length - 2) + 1, -1));

export async function openFile({ card, path }: Target, signal: AbortSignal): Promise<Response> {
  // Each address is signed when it is needed: those of a long download would end before.
  const url = await downloadUrl(card, path ?? '');
  const response = await fetchWithIdleTimeout(url, { signal }).catch(() => {
    throw new NetworkError();
  });
  if (!response.ok) throw new StorageError(response.status);
  return response;
}

async function read(target: Target, signal: AbortSignal): Promise<Blob> {
  const response = await openFile(target, signal);
  return response.blob().catch(() => {
    throw new NetworkError();
  });
}

/** The folder of each asset: its name as any system accepts it, with a number where two are alike. */
export function assetFolders(targets: readonly Target[]): Map<string, string> {
  const folders = new Map<string, string>();
  const names = new Set<string>();
  for (const { card } of targets) {
    if (folders.has(card.id)) continue;
    const name = portableName(card.name) || card.assetId;
    let folder = name;
    for (let number = 2; names.has(folder.toLowerCase()); number++) folder = `${name} (${number})`;
    names.add(folder.toLowerCase());
    folders.set(card.id, folder);
  }
  return folders;
}

const portableName = (name: string): string =>
  name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, '_').replace(/^[. ]+|[. ]+$/g, '');
