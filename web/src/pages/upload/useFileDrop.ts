import { useEffect, useState } from 'react';
import { texts } from '../../texts';
import { fromDrop, type LocalFile } from './localFiles';

/** Where files that were dropped on another page wait: a change of user empties the cache. */
export const DROPPED_FILES = ['dropped'];

/** The folder of a tree that is below the pointer. */
const folderAt = ({ target }: DragEvent): string | undefined =>
  target instanceof Element
    ? target.closest<HTMLElement>('[data-folder]')?.dataset.folder
    : undefined;

/**
 * Takes files that are dropped anywhere on the window, and returns whether some are above it, and
 * above which folder.
 * Without this, the browser would open a file in place of the page.
 */
export function useFileDrop(
  onDrop: ((files: Promise<LocalFile[]>, folder?: string) => unknown) | null,
): { over: boolean; folder: string | undefined } {
  const [over, setOver] = useState(false);
  const [folder, setFolder] = useState<string>();
  useEffect(() => {
    const move = (event: DragEvent) => {
      // A text that is dragged into a field is left to the browser.
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      if (!onDrop) event.dataTransfer.dropEffect = 'none';
      setOver(onDrop !== null);
      setFolder(folderAt(event));
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setOver(false);
      onDrop?.(
        fromDrop(event.dataTransfer.items).catch(() => {
          throw new Error(texts.errors.unreadableFile);
        }),
        folderAt(event),
      );
    };
    const listeners = { dragover: move, dragleave: leave, drop };
    for (const [name, listener] of Object.entries(listeners)) {
      addEventListener(name, listener as EventListener);
    }
    return () => {
      for (const [name, listener] of Object.entries(listeners)) {
        removeEventListener(name, listener as EventListener);
      }
    };
  }, [onDrop]);
  return { over, folder };
}
