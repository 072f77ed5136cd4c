import { useEffect, useState } from 'react';

type Listener = (text: string) => void;
const listeners = new Set<Listener>();
const SECONDS = 6;

/** Says a sentence for a few seconds, also to screen readers. */
export function toast(text: string): void {
  listeners.forEach((listener) => listener(text));
}

export function Toasts() {
  const [text, setText] = useState('');
  useEffect(() => {
    listeners.add(setText);
    return () => void listeners.delete(setText);
  }, []);
  useEffect(() => {
    if (!text) return;
    const timer = setTimeout(() => setText(''), SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <div role="status" className={text ? 'toast shown' : 'toast'}>
      {text}
    </div>
  );
}
