import { createElement, lazy, useState, type ComponentType } from 'react';
import { NetworkError } from '../api/errors';
import { texts } from '../texts';
import { toast } from './Toasts';

/**
 * Loads a part of the page. If that fails, what is open remains, with all that was typed. At a
 * repeated try a server that responds has the part, and the browser remembers the failure.
 */
export async function loadChunk<T>(load: () => Promise<T>, isRepeated = false): Promise<T> {
  try {
    return await load();
  } catch {
    const build = await buildOnServer();
    // Built again while it was open: its old parts are gone, and the new page has its own.
    if (build === 'changed' || (build && isRepeated)) location.reload();
    throw new NetworkError();
  }
}

const failedChunks = new Set<() => void>();

/** A component whose code is loaded when it is shown; after `retryParts`, once more if it failed. */
export function lazyComponent<P extends object>(
  load: () => Promise<ComponentType<P>>,
): ComponentType<P> {
  // React remembers that a part failed, so that another try needs another component.
  const create = (isRepeated: boolean) =>
    lazy(async () => {
      try {
        return { default: await loadChunk(load, isRepeated) };
      } catch (error) {
        failedChunks.add(() => (current = create(true)));
        throw error;
      }
    });
  let current = create(false);
  return function Part(props: P) {
    const [Loaded] = useState(() => current);
    return createElement(Loaded, props);
  };
}

/** Lets the parts that failed be requested again when they are shown. */
export function retryFailedChunks(): void {
  failedChunks.forEach((renew) => renew());
  failedChunks.clear();
}

/** Reloads the page if its server responds: without it, the browser would show its own error. */
export async function reloadPage(): Promise<void> {
  if (await buildOnServer()) location.reload();
  else toast(texts.errors.network);
}

/** Returns whether the build on the server is that of the open page; null without a reply. */
async function buildOnServer(): Promise<'same' | 'changed' | null> {
  const script = document.querySelector('script[type=module][src]')?.getAttribute('src');
  const found = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).catch(() => null);
  const page = (await found?.text().catch(() => '')) ?? '';
  // A network that asks for a sign-in of its own replies to anything with a page.
  if (!found?.ok || !page.includes('id="root"')) return null;
  return script && page.includes(script) ? 'same' : 'changed';
}
