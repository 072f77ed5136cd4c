import { NetworkError } from './errors';

/** Loads a part of the page. If that fails, what is open remains, with all that was typed. */
export async function loadChunk<T>(load: () => Promise<T>, isRepeated = false): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const chunk = isRepeated ? await importAgain<T>(error) : null;
    if (chunk) return chunk;
    const build = await buildOnServer();
    // Built again while it was open: its old parts were deleted, and the new page has its own.
    if (build === 'changed' || (build && isRepeated)) location.reload();
    throw new NetworkError();
  }
}

let attempts = 0;

/**
 * Requests a part under another address: browsers remember that the first one failed. Null if that
 * fails too, or if the browser does not name the address.
 */
async function importAgain<T>(error: unknown): Promise<T | null> {
  const url = /https?:\S+\.js/.exec(String(error))?.[0];
  if (!url) return null;
  attempts += 1;
  return (import(/* @vite-ignore */ `${url}?attempt=${attempts}`) as Promise<T>).catch(() => null);
}

/** Returns whether the build on the server is that of the open page; null without a reply. */
export async function buildOnServer(): Promise<'same' | 'changed' | null> {
  const script = document.querySelector('script[type=module][src]')?.getAttribute('src');
  const response = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).catch(() => null);
  const page = (await response?.text().catch(() => '')) ?? '';
  // A captive portal replies to any request with a page.
  if (!response?.ok || !page.includes('id="root"')) return null;
  return script && page.includes(script) ? 'same' : 'changed';
}
