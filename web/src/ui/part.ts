import { NetworkError } from '../api/errors';
import { texts } from '../texts';
import { say } from './Toasts';

/** Loads a part of the page. If that fails, what is open remains, with all that was typed. */
export async function part<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch {
    // Built again while it was open: its old parts are gone, and the new page has its own.
    if ((await buildOnServer()) === 'changed') location.reload();
    throw new NetworkError();
  }
}

/** Reloads the page if its server responds: without it, the browser would show its own error. */
export async function reload(): Promise<void> {
  if (await buildOnServer()) location.reload();
  else say(texts.errors.network);
}

/** Returns whether the build on the server is that of the open page; null without a reply. */
async function buildOnServer(): Promise<'same' | 'changed' | null> {
  const script = document.querySelector('script[type=module][src]')?.getAttribute('src');
  const found = await fetch(import.meta.env.BASE_URL, { cache: 'no-store' }).catch(() => null);
  const page = (await found?.text().catch(() => '')) ?? '';
  // A network that asks for a sign-in of its own replies to anything with a page.
  if (!found?.ok || !page.includes('id="root"')) return null;
  return script && page.includes(script) ? 'same' : 'changed';
}
