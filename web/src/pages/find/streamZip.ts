import { errorText, isRetryable, NetworkError, StorageError } from '../../api/errors';
import { selectionTexts } from '../../texts/selection';
import { downloadUrl } from '../../api/downloads';
import { targetName, type LeftOut, type Target } from './selectedFiles';
import { entryNames, type Progress } from './zip';

const SCOPE = `${import.meta.env.BASE_URL}zip/`;
/** A worker that hears nothing for half a minute may be stopped. */
const PING = 10_000;
const PATIENCE = 15_000;

/** Messages of the worker: the address is open, a request for the next file, or how one ended. */
type FromWorker =
  | { type: 'ready' | 'next' }
  | { type: 'done'; at: number }
  | { type: 'failed'; at: number; status: number }
  | { type: 'end' | 'broken' };

interface Outcome {
  failed: LeftOut[];
  /** Those that are not in the file. */
  missing: Target[];
}

export const canStream = (): boolean => 'serviceWorker' in navigator;

/** Streams a ZIP file of any size to the browser's downloads, by a service worker. */
export async function streamZip(
  targets: readonly Target[],
  name: string,
  { signal, at }: Progress,
  folder?: string,
): Promise<Outcome> {
  const worker = await startWorker();
  const names = entryNames(targets, folder);
  const address = `${SCOPE}${crypto.randomUUID()}/${encodeURIComponent(name)}`;
  const { port1: port, port2 } = new MessageChannel();
  const ping = setInterval(() => worker.postMessage('ping'), PING);
  const stop = () => port.postMessage('stop');
  const warn = (event: BeforeUnloadEvent) => event.preventDefault();
  const failed: LeftOut[] = [];
  const missing = new Set(targets);
  let position = 0;
  const fail = (place: number, error: unknown) => {
    const target = targets[place];
    if (!target) return;
    const again = isRetryable(error) || error instanceof StorageError;
    failed.push({ name: targetName(target), reason: errorText(error), again });
  };
  /** The next file whose address is signed; null after the last. */
  const nextFile = async () => {
    for (; position < targets.length;) {
      const place = position++;
      const target = targets[place];
      if (!target) continue;
      at(place);
      try {
        return {
          at: place,
          name: names[place],
          url: await downloadUrl(target.card, target.path ?? ''),
        };
      } catch (error) {
        fail(place, error);
      }
    }
    return null;
  };
  try {
    await new Promise<void>((resolve, reject) => {
      const silent = setTimeout(() => reject(new Error(selectionTexts.notStreamed)), PATIENCE);
      const receive = async (message: FromWorker) => {
        if (message.type === 'ready') {
          link.click();
          return;
        }
        clearTimeout(silent);
        if (message.type === 'next') {
          addEventListener('beforeunload', warn);
          port.postMessage(await nextFile());
        } else if (message.type === 'done') {
          const target = targets[message.at];
          if (target) missing.delete(target);
        } else if (message.type === 'failed') {
          fail(message.at, message.status ? new StorageError(message.status) : new NetworkError());
        } else resolve();
      };
      const link = document.createElement('a');
      link.href = address;
      port.onmessage = ({ data }: MessageEvent<FromWorker>) => void receive(data).catch(reject);
      signal.addEventListener('abort', stop);
      worker.postMessage({ address, name }, [port2]);
    });
  } finally {
    clearInterval(ping);
    signal.removeEventListener('abort', stop);
    removeEventListener('beforeunload', warn);
    port.close();
  }
  signal.throwIfAborted();
  return { failed, missing: [...missing] };
}

async function startWorker(): Promise<ServiceWorker> {
  const registration = await navigator.serviceWorker
    .register(`${SCOPE}worker.js`, { scope: SCOPE })
    .catch(() => null);
  const worker =
    registration && (registration.installing ?? registration.active ?? registration.waiting);
  if (!worker) throw new Error(selectionTexts.notStreamed);
  while (worker.state !== 'activated') {
    if (worker.state === 'redundant') throw new Error(selectionTexts.notStreamed);
    await new Promise((changed) => worker.addEventListener('statechange', changed, { once: true }));
  }
  return worker;
}
