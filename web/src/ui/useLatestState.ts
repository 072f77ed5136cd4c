import { useRef, useState } from 'react';

/** A state, and what it is by now: on a slow network, people go on typing while a form is saved. */
export function useLatestState<T>(initial: T | (() => T)) {
  const [value, setValue] = useState(initial);
  const latest = useRef(value);
  const set = (next: T) => {
    latest.current = next;
    setValue(() => next);
  };
  return [value, set, latest] as const;
}
