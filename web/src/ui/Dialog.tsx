import { useEffect, useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { texts } from '../texts';

/** A modal dialog. When it closes or is removed, the focus returns to where it was before. */
export function Dialog(props: { title: string; onClose: () => void; children: ReactNode }) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // Before it is removed: a dialog that is removed while it is open returns no focus.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog ref={dialog} onClose={props.onClose} aria-labelledby={id}>
      <div className="stack">
        <h2 id={id}>{props.title}</h2>
        {props.children}
      </div>
    </dialog>
  );
}

/** Closes the dialog that it is in, as Escape does. */
export function CloseButton({ text = texts.cancel, first }: { text?: string; first?: boolean }) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // After the dialog has opened, which gives the focus to its first field or button.
    if (first) setTimeout(() => button.current?.focus());
  }, [first]);
  return (
    <button ref={button} type="button" onClick={() => button.current?.closest('dialog')?.close()}>
      {text}
    </button>
  );
}
