import { useRef, useState, type DragEvent } from 'react';
import { isFolder, parentFolder, type Subject } from './fileChanges';

const TYPE = 'application/x-vitrine-path';

/** Lets files and folders be dragged onto folders (`/papers/`, and `/` for none). */
export function useTreeDrag(onMove: ((subject: Subject, folder: string) => void) | undefined) {
  // What is dragged can be read only when it is dropped.
  const dragged = useRef<Subject | null>(null);
  const [over, setOver] = useState<string | null>(null);
  if (!onMove) return null;
  const mayMoveTo = (folder: string): boolean => {
    const subject = dragged.current;
    if (!subject) return false;
    const isWithin = isFolder(subject) && folder.startsWith(subject.path);
    return !isWithin && parentFolder(subject.path.replace(/\/$/, '')) !== folder.slice(1, -1);
  };
  const end = () => {
    dragged.current = null;
    setOver(null);
  };
  return {
    over,
    sourceProps: (subject: Subject) => ({
      draggable: true,
      onDragStart: (event: DragEvent) => {
        // A file in a folder: the folder gets the event, too.
        event.stopPropagation();
        dragged.current = subject;
        event.dataTransfer.setData(TYPE, subject.path);
        event.dataTransfer.effectAllowed = 'move';
      },
      onDragEnd: end,
    }),
    targetProps: (folder: string) => ({
      onDragOver: (event: DragEvent) => {
        if (!dragged.current) return;
        event.stopPropagation();
        setOver(mayMoveTo(folder) ? folder : null);
        if (!mayMoveTo(folder)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = 'move';
      },
      onDrop: (event: DragEvent) => {
        const subject = dragged.current;
        if (!subject) return;
        event.preventDefault();
        event.stopPropagation();
        if (mayMoveTo(folder)) onMove(subject, folder.slice(1, -1));
        end();
      },
    }),
  };
}
