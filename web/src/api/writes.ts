/** The sync token of this tab's latest write, until a search has seen that write. */
let token: string | null = null;

export const latestWrite = (): string | null => token;

export function wrote(headers: Headers): void {
  token = headers.get('x-sync-token') ?? token;
}

export function seenWrite(seen: string): void {
  if (token === seen) token = null;
}

export function forgetWrites(): void {
  token = null;
}
