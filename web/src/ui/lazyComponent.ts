import { createElement, lazy, useState, type ComponentType } from 'react';
import { buildOnServer, loadChunk } from '../api/loadChunk';
import { texts } from '../texts';
import { toast } from './Toasts';

const failedChunks = new Set<() => void>();

/** A component whose code is loaded when it is shown; after `retryFailedChunks`, once more if it failed. */
export function lazyComponent<K extends string, P extends object>(
  load: () => Promise<Record<K, ComponentType<P>>>,
  name: K,
): ComponentType<P> {
  // React remembers that a part failed, so that another try needs another component.
  const create = (isRepeated: boolean) =>
    lazy(async (): Promise<{ default: ComponentType<P> }> => {
      try {
        return { default: (await loadChunk(load, isRepeated))[name] };
      } catch (error) {
        failedChunks.add(() => (current = create(true)));
        throw error;
      }
    });
  let current = create(false);
  return function LazyComponent(props: P) {
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
