// Downloads whose connection is cut on the way: what has arrived is kept, and the rest follows.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { test } from './fixtures.mjs';
import { accessible, endpoint, file, newAsset, request } from './walk.mjs';

const SIZE = 3_000_000;
const NAMES = ['a.bin', 'b.bin', 'c.bin'];
const CONTENTS = new Map(NAMES.map((name) => [name, randomBytes(SIZE)]));
const dialog = (page) => page.getByRole('dialog');
const press = (page, name) => dialog(page).getByRole('button', { name, exact: true }).click();

/**
 * A proxy between the browser and the servers. After `cut(name)` the connection breaks in the middle
 * of this file, and nothing comes from the storage until `mend()`.
 */
async function startProxy() {
  const state = { at: null, isDown: false, paths: [] };
  const server = createServer((incoming, response) => {
    const url = new URL(incoming.url);
    const isStored = url.origin === new URL(endpoint.s3).origin && incoming.method === 'GET';
    if (isStored) state.paths.push(url.pathname.split('/').at(-1));
    if (isStored && state.isDown) return void incoming.socket.destroy();
    const { method, headers } = incoming;
    const ahead = send(url, { method, headers }, (reply) => {
      response.writeHead(reply.statusCode, reply.rawHeaders);
      let sent = 0;
      reply.on('data', (chunk) => {
        sent += chunk.length;
        if (!isStored || !url.pathname.endsWith(state.at) || sent < SIZE / 2) return;
        state.isDown = true;
        response.socket?.destroy();
        reply.destroy();
      });
      reply.pipe(response);
    });
    ahead.on('error', () => response.destroy());
    incoming.pipe(ahead);
    return undefined;
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    cut: (name) => Object.assign(state, { at: name }),
    mend: () => Object.assign(state, { at: null, isDown: false, paths: [] }),
    requested: () => state.paths,
    close: () => server.close(),
  };
}

/** Opens the download of an asset with three files, behind a proxy. */
async function openDownload(open, prepare) {
  const proxy = await startProxy();
  const { page } = await open({ proxy: { server: proxy.address } });
  await prepare(page);
  const files = NAMES.map((name) => file(name, CONTENTS.get(name)));
  await newAsset(page, files, `interrupted ${Date.now()}`);
  await page.getByRole('button', { name: 'Download all' }).click();
  await dialog(page)
    .getByText(/^3 files, /)
    .waitFor();
  proxy.cut('b.bin');
  return { page, proxy };
}

const sum = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** The files in the folder of the only asset, with their checksums. */
const savedFiles = (page) =>
  page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const saved = {};
    for await (const folder of root.values()) {
      for await (const [name, handle] of folder.entries()) {
        const bytes = await (await handle.getFile()).arrayBuffer();
        const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
        saved[name] = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      }
    }
    return saved;
  });

test('a download into a folder goes on after its connection was cut, file by file', async ({
  open,
}) => {
  const { page, proxy } = await openDownload(open, (page) =>
    // A folder of the browser's own, which is written as one of the disk is.
    page.addInitScript(() => {
      globalThis.showDirectoryPicker = () => navigator.storage.getDirectory();
    }),
  );
  await press(page, 'Save into a folder…');
  await dialog(page).getByText('2 files could not be downloaded:').waitFor();
  await accessible(page, 'an interrupted download');
  assert.deepEqual(await savedFiles(page), { 'a.bin': sum(CONTENTS.get('a.bin')) });
  proxy.mend();
  await press(page, 'Save into a folder…');
  await page.getByText('3 files downloaded').waitFor();
  const all = Object.fromEntries(NAMES.map((name) => [name, sum(CONTENTS.get(name))]));
  assert.deepEqual(await savedFiles(page), all);
  assert.ok(!proxy.requested().includes('a.bin'), 'what is there is not requested again');
  proxy.close();
});

test('a ZIP file whose connection was cut is followed by one of the missing files', async ({
  open,
}) => {
  const { page, proxy } = await openDownload(open, async (page) => {
    await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'showDirectoryPicker'));
    // As if they were so large that a service worker streams them.
    await page.route('**/listFiles?**', async (route) => {
      const { pathname, search } = new URL(route.request().url());
      const json = await request('GET', pathname + search);
      for (const item of json.items) item.size *= 100;
      await route.fulfill({ json });
    });
  });
  const starts = page.waitForEvent('download');
  await press(page, 'Download');
  const first = await starts;
  await dialog(page).getByText('The download has ended early: 2 files are missing.').waitFor();
  assert.ok(await first.failure(), 'the browser does not keep a part as a whole file');
  await accessible(page, 'an interrupted ZIP file');
  proxy.mend();
  const second = page.waitForEvent('download');
  await press(page, 'Download the missing files');
  const zip = readFileSync(await (await second).path());
  for (const name of NAMES)
    assert.equal(zip.includes(CONTENTS.get(name)), name !== 'a.bin', `${name} in the second file`);
  await dialog(page).waitFor({ state: 'detached' });
  proxy.close();
});
