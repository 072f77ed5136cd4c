import { useSyncExternalStore } from 'react';

/** A value that changes outside of React. */
export interface Store<T> {
  current: () => T;
  set: (next: T) => void;
  subscribe: (listener: () => void) => () => void;
}

/** Creates a store; `schedule` may delay and merge the calls of its listeners. */
export function createStore<T>(
  initial: T,
  schedule: (notify: () => void) => void = (notify) => notify(),
): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  const notify = () => listeners.forEach((listener) => listener());
  return {
    current: () => value,
    set: (next) => {
      value = next;
      schedule(notify);
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The value of a store; the component is rendered again when it changes. */
export const useStore = <T>({ subscribe, current }: Pick<Store<T>, 'subscribe' | 'current'>): T =>
  useSyncExternalStore(subscribe, current);
