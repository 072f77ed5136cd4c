/**
 * Reads a list of names from a cookie; null if there is none.
 *
 * A cookie and not storage: a choice of how the page looks is not the user's data, and outlives a
 * sign-out.
 */
export function readChoice(cookie: string): string[] | null {
  const value = new RegExp(`(?:^|; )${cookie}=([\\w.]*)`).exec(document.cookie)?.[1];
  return value === undefined ? null : value.split('.').filter(Boolean);
}

/** Keeps names of letters, digits and `_`. */
export function keepChoice(cookie: string, names: readonly string[]): void {
  document.cookie = `${cookie}=${names.join('.')}; path=/ui/; max-age=31536000; samesite=strict`;
}
