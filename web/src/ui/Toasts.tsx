import { useEffect, useState } from 'react';

/** An act that a toast offers, such as Undo. */
interface ToastAction {
  name: string;
  act: () => void;
}
interface Toast {
  text: string;
  action?: ToastAction | undefined;
}

type Listener = (toast: Toast) => void;
const listeners = new Set<Listener>();
const SECONDS = 6;
/** To read it, and to reach its button by keys. */
const SECONDS_TO_ACT = 15;
const NONE: Toast = { text: '' };

/** Says a sentence for a few seconds, also to screen readers; with an act, longer. */
export function toast(text: string, action?: ToastAction): void {
  listeners.forEach((listener) => listener({ text, action }));
}

export function Toasts() {
  const [{ text, action }, setToast] = useState(NONE);
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    const show = (shown: Toast) => {
      setHeld(false);
      setToast(shown);
    };
    listeners.add(show);
    return () => void listeners.delete(show);
  }, []);
  useEffect(() => {
    if (!text || isHeld) return;
    const seconds = action ? SECONDS_TO_ACT : SECONDS;
    const timer = setTimeout(() => setToast(NONE), seconds * 1000);
    return () => clearTimeout(timer);
  }, [text, action, isHeld]);
  return (
    <div
      role="status"
      className={text ? 'toast shown' : 'toast'}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
    >
      {text}
      {action && (
        <button
          type="button"
          className="small"
          onClick={() => {
            setToast(NONE);
            // The button disappears with the focus.
            document.getElementById('content')?.focus({ preventScroll: true });
            action.act();
          }}
        >
          {action.name}
        </button>
      )}
    </div>
  );
}
