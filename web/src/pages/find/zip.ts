import { downloadZip } from 'client-zip';
import { isRetryable, NetworkError, errorText, StorageError } from '../../api/errors';
import { fetchWithIdleTimeout } from '../../api/idleTimeout';
import { downloadUrl } from '../../api/downloads';
import { targetName, type LeftOut, type Target } from './selectedFiles';

interface Progress {
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
  const folders = assetFolders(targets);
  async function* entries() {
    for (const [done, target] of targets.entries()) {
      at(done);
      try {
        const input = await read(target, signal);
        yield { name: entryName(target, folders, folder), input };
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

function entryName(
  { card, path }: Target,
  folders: ReadonlyMap<string, string>,
  folder: string | undefined,
): string {
  if (folder === undefined) return `${folders.get(card.id) ?? ''}${path ?? ''}`;
  return (path ?? '').slice(folder.lastIndexOf('/', folder.length - 2) + 1);
}

/** The name of the folder of a path that ends in `/`, as any system accepts it. */
export const folderName = (folder: string): string =>
  portableName(folder.slice(folder.lastIndexOf('/', folder.length - 2) + 1, -1));

async function read({ card, path }: Target, signal: AbortSignal): Promise<Blob> {
  // Each address is signed when it is needed: those of a long download would end before.
  const url = await downloadUrl(card, path ?? '');
  const lost = (): never => {
    throw new NetworkError();
  };
  const response = await fetchWithIdleTimeout(url, { signal }).catch(lost);
  if (!response.ok) throw new StorageError(response.status);
  return response.blob().catch(lost);
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
