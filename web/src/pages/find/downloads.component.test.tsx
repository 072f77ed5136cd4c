// Large downloads: files into a folder, and a ZIP file that a service worker streams.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { afterEach, expect, test, vi } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { asset, fileAt, hit, hits, respond } from '../../testing/server';
import library from '../../../node_modules/client-zip/worker.js?raw';
import worker from './zip.worker.js?raw';

const A = '/database/library/assets/a';
afterEach(() => {
  vi.restoreAllMocks();
  Reflect.deleteProperty(navigator, 'serviceWorker');
});

/** An asset of large files with these paths, in the dialog of downloads. */
async function openDownload(...paths: string[]) {
  respond('post', '/search', hits(hit('a')));
  respond('get', A, { ...asset, assetId: 'a', assetName: 'a' });
  const files = paths.map((path) =>
    fileAt(path, {
      size: path.length * 1e9,
      dateCreatedCurrentVersion:
        path === '/newer' ? '2026-01-31T12:00:01Z' : '2026-01-31T12:00:00Z',
    }),
  );
  respond('get', `${A}/listFiles`, { items: files });
  respond('post', `${A}/download`, async ({ request }) => {
    const { key } = (await request.json()) as { key: string };
    return HttpResponse.json({ downloadUrl: `http://storage.test${key}` });
  });
  const user = await openPage('/');
  await user.click(await screen.findByLabelText('Select a'));
  await user.click(await button('Download'));
  return { user, window: await dialog() };
}

/** A folder of a disk: names of files and folders with what they are. */
class Folder {
  items = new Map<string, Folder | string>();
  getDirectoryHandle(name: string) {
    const folder = this.items.get(name) ?? new Folder();
    this.items.set(name, folder);
    return Promise.resolve(folder);
  }
  getFileHandle(name: string, { create = false } = {}) {
    if (!this.items.has(name) && !create)
      return Promise.reject(new DOMException('', 'NotFoundError'));
    if (!this.items.has(name)) this.items.set(name, '');
    const replace = (text: string) => this.items.set(name, text);
    return Promise.resolve({
      getFile: () =>
        Promise.resolve({
          size: name.length * 1e9 + 1e9,
          lastModified: Date.UTC(2026, 0, 31, 12),
        }),
      createWritable: () => {
        let text = '';
        return Promise.resolve(
          new WritableStream<Uint8Array>({
            write: (chunk) => void (text += new TextDecoder().decode(chunk)),
            close: () => void replace(text),
          }),
        );
      },
    });
  }
  removeEntry(name: string) {
    this.items.delete(name);
    return Promise.resolve();
  }
}

test('files are saved into a folder; those that are there and not older are kept', async () => {
  const root = new Folder();
  const inAsset = new Folder();
  inAsset.items.set('kept', 'as it was').set('newer', 'as it was');
  root.items.set('a', inAsset);
  Object.assign(window, { showDirectoryPicker: () => Promise.resolve(root) });
  const { user, window: form } = await openDownload(
    '/kept',
    '/new',
    '/newer',
    '/sub/CON?',
    '/gone',
  );
  await within(form).findByText(/^5 files, /);
  await expectAccessible();
  respond('get', 'http://storage.test/gone', () => new HttpResponse(null, { status: 404 }));
  respond('get', 'http://storage.test/kept', () => HttpResponse.text('not this'));
  await user.click(await button('Save into a folder…', form));
  await within(form).findByText('1 file could not be downloaded:');
  const sub = inAsset.items.get('sub') as Folder;
  expect(Object.fromEntries(inAsset.items)).toEqual({
    kept: 'as it was',
    new: 'content',
    newer: 'content',
    sub,
  });
  expect(sub.items.get('CON_')).toBe('content');
  await expectAccessible();
  Reflect.deleteProperty(window, 'showDirectoryPicker');
});

/** Runs the real service worker beside the page; the browser requests what the page links to. */
function startServiceWorker() {
  const listeners: Record<string, (event: never) => unknown> = {};
  const self = {
    location,
    addEventListener: (type: string, listener: (event: never) => unknown) =>
      void (listeners[type] = listener),
  };
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
  new Function('self', `${library}\n${worker}`)(self);
  const saved: Promise<Response>[] = [];
  const active = {
    state: 'activated',
    // Later than a request of the same moment, as it may be in a browser.
    postMessage: (data: unknown, ports: MessagePort[] = []) =>
      setTimeout(() => listeners.message?.({ data, ports } as never)),
  };
  Object.assign(navigator, {
    serviceWorker: {
      register: vi.fn(() => Promise.resolve({ installing: null, active: null, waiting: active })),
    },
  });
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement,
  ) {
    const respondWith = (response: Response) => saved.push(Promise.resolve(response));
    listeners.fetch?.({ request: { url: this.href }, respondWith } as never);
  });
  return saved;
}

test('a ZIP file is streamed by a service worker; after an interruption the rest follows', async () => {
  const saved = startServiceWorker();
  const { user, window: form } = await openDownload('/one', '/gone', '/../two');
  respond('get', 'http://storage.test/gone', () => new HttpResponse(null, { status: 404 }));
  await within(form).findByText(/^3 files, /);
  await user.click(await button('Download', form));
  await waitFor(() => expect(saved).toHaveLength(1));
  const response = await saved[0];
  expect(response?.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''a.zip");
  const text = await response?.text();
  for (const name of ['a/one', 'a/_/two', 'content']) expect(text).toContain(name);
  await within(form).findByText('1 file could not be downloaded:');
  respond('get', 'http://storage.test/gone', () => HttpResponse.text('back'));
  await user.click(await button('Download the missing files', form));
  await waitFor(() => expect(saved).toHaveLength(2));
  await (await saved[1])?.body?.cancel();
  await within(form).findByText('The download has ended early: 1 file is missing.');
  await user.click(await button('Download the missing files', form));
  await waitFor(() => expect(saved).toHaveLength(3));
  expect(await (await saved[2])?.text()).toContain('back');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});
