/** Lists that the tab stores until it is closed, or its user signs out. */

/** Returns a list; null if there is none. What another program wrote is left out. */
export function readList<T>(key: string, isItem: (value: unknown) => value is T): T[] | null {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    return Array.isArray(stored) ? stored.filter(isItem) : null;
  } catch {
    return null;
  }
}

/** Whether a value is an object whose `names` are texts. */
export const hasTexts = (value: unknown, ...names: string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  names.every((name) => typeof Reflect.get(value, name) === 'string');

/** Stores a list; if the storage is full, there is none after a reload. */
export function storeList(key: string, list: readonly unknown[]): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(list));
  } catch {
    sessionStorage.removeItem(key);
  }
}
