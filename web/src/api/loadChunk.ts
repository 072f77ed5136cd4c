import { NetworkError } from './errors';

/**
 * Loads a part of the page. If that fails, what is open remains, with all that was typed. At a
 * repeated try a server that responds has the part, and the browser remembers the failure.
 */
export async function loadChunk<T>(load: () => Promise<T>, isRepeated = false): Promise<T> {
  try {
    return await load();
  } catch {
    const build = await buildOnServer();
    // Built again while it was open: its old parts are gone, and the new page has its own.
    if (build === 'changed' || (build && isRepeated)) location.reload();
    throw new NetworkError();
  }
}

/** Returns whether the build on the server is that of the open page; null without a reply. */
export async function buildOnServer(): Promise<'same' | 'changed' | null> {
  const script = document.querySelector('script[type=module][src]')?.getAttribute('src');
  const found = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).catch(() => null);
  const page = (await found?.text().catch(() => '')) ?? '';
  // A network that asks for a sign-in of its own replies to anything with a page.
  if (!found?.ok || !page.includes('id="root"')) return null;
  return script && page.includes(script) ? 'same' : 'changed';
}
