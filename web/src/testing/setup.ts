// What jsdom lacks of a browser, and what every component test begins and ends with.
import { cleanup, configure } from '@testing-library/react';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { server } from './server';

// Code of lazy parts is compiled when it is first shown.
// Without styles nothing is hidden, and to look for it takes most of the time.
configure({ asyncUtilTimeout: 15_000, defaultHidden: true });

/** The page names paths; Node's `Request` requires whole addresses. */
class RequestHere extends Request {
  constructor(input: RequestInfo | URL, options?: RequestInit) {
    super(typeof input === 'string' ? new URL(input, location.href) : input, options);
  }
}
vi.stubGlobal('Request', RequestHere);

const FOCUSABLE = 'input:enabled, select:enabled, textarea:enabled, button:enabled, a[href]';
const openers = new WeakMap<HTMLDialogElement, Element | null>();
Object.assign(HTMLDialogElement.prototype, {
  showModal(this: HTMLDialogElement) {
    openers.set(this, document.activeElement);
    this.open = true;
    this.querySelector<HTMLElement>(FOCUSABLE)?.focus();
  },
  close(this: HTMLDialogElement) {
    if (!this.open) return;
    this.open = false;
    const opener = openers.get(this);
    if (opener instanceof HTMLElement) opener.focus();
    this.dispatchEvent(new Event('close'));
  },
});
document.addEventListener('keydown', ({ key }) => {
  const dialog = document.querySelector<HTMLDialogElement>('dialog[open]');
  if (key === 'Escape' && dialog?.dispatchEvent(new Event('cancel', { cancelable: true })))
    dialog.close();
});

Object.defineProperty(File.prototype, 'webkitRelativePath', { value: '' });
Object.assign(Element.prototype, {
  scrollIntoView: () => undefined,
  hidePopover: () => undefined,
  scrollTo: () => undefined,
});
vi.stubGlobal('scrollTo', () => undefined);
vi.stubGlobal(
  'matchMedia',
  // A wide window.
  (query: string) =>
    Object.assign(new EventTarget(), { media: query, matches: query.includes('min-width') }),
);
vi.stubGlobal(
  'ResizeObserver',
  class {
    observe() {}
    unobserve() {}
    disconnect() {}
  },
);

// As index.html has it.
document.documentElement.lang = 'en';
document.title = 'Vitrine';

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());
