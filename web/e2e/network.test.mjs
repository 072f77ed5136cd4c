// A slow or broken network: what is open remains, nothing typed is lost, and nothing waits for ever.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import {
  accessible,
  chooseFiles,
  endpoint,
  file,
  HITS,
  newAsset,
  quoted,
  UI,
  vitrine,
  withKey,
} from './walk.mjs';

const STORAGE = `${new URL(endpoint.s3).origin}/**`;
const CODE = '**/ui/assets/*';
const lost = (route) => route.abort('connectionreset');
const later = (milliseconds) => async (route) => {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  await route.continue().catch(() => undefined); // the page has left
};
const made = (name) =>
  JSON.parse(
    vitrine(
      'assets',
      'create',
      'library',
      `${name} ${Date.now()}`,
      '--description',
      name,
      '--json',
    ),
  );

/** Whether the document has been the same all the time. */
const marked = (page) => page.evaluate(() => (globalThis.isFirst = true));
const isFirst = (page) => page.evaluate(() => globalThis.isFirst === true);

test('a part of the page that is lost takes nothing with it, and comes with another try', async ({
  page,
}) => {
  await withKey(page);
  const { assetId } = made('parts');
  await page.goto(`${UI}databases/library/assets/${assetId}`);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Description').fill('typed before');
  await marked(page);
  await page.route(CODE, lost);
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Keyboard and mouse' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('did not respond').waitFor();
  await accessible(page, 'a dialog whose code is lost');
  await dialog.getByRole('button', { name: 'Close' }).click();
  assert.equal(await page.getByLabel('Description').inputValue(), 'typed before');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('link', { name: 'Upload', exact: true }).click();
  await page.getByRole('alert').getByText('did not respond').waitFor();
  assert.ok(await isFirst(page), 'the page was not reloaded');
  // Without a server, a reload would replace the page with the browser's own error.
  await page.route(UI, lost);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.toast.shown').waitFor();
  assert.ok(await isFirst(page), 'the page was not reloaded');
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Upload' }).waitFor();
});

test('a page that was built again while it was open is reloaded where it needs its new parts', async ({
  page,
}) => {
  await withKey(page);
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  await marked(page);
  await page.route(/\/assets\/UploadPage-/, (route) => route.fulfill({ status: 404 }), {
    times: 2,
  });
  await page.route(
    UI,
    (route) => route.fulfill({ contentType: 'text/html', body: '<div id="root"></div>' }),
    { times: 1 },
  );
  await page.getByRole('link', { name: 'Upload', exact: true }).click();
  await page.getByRole('heading', { name: 'Upload' }).waitFor();
  assert.equal(await isFirst(page), false);
});

test('results that are late are called those of the search before, and hits that are lost are named', async ({
  page,
}) => {
  await withKey(page);
  let sample;
  let isBroken = true;
  await page.route('**/search', async (route) => {
    const { from = 0, query } = route.request().postDataJSON();
    if (query) await new Promise((resolve) => setTimeout(resolve, 1500));
    if (from && isBroken) return route.fulfill({ status: 500, json: { message: 'x' } });
    const response = await route.fetch();
    const body = await response.json();
    sample ??= body.hits.hits[0];
    body.assetsFound = 200;
    body.hits.hits = Array.from({ length: 50 }, (_, at) => ({
      ...sample,
      _id: `library:${from + at}`,
      _source: { ...sample._source, str_assetname: `hit ${from + at}` },
    }));
    return route.fulfill({ response, json: body });
  });
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  await page.locator(HITS).first().press('End');
  const alert = page.getByRole('alert').getByText('The server failed (status 500)');
  await alert.waitFor();
  await accessible(page, 'hits that are lost');
  isBroken = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('link', { name: 'hit 199' }).waitFor();
  assert.equal(await alert.count(), 0);
  await page.getByRole('combobox').first().fill('lamp');
  await page.getByRole('status').getByText('Searching…').waitFor();
  await page.getByRole('status').getByText('200 assets').waitFor();
});

test('pictures that are lost are not called missing, and come by themselves', async ({ page }) => {
  await withKey(page);
  await page.route(STORAGE, lost);
  await page.goto(`${UI}?q=planetary-gear`);
  await page.locator('.hits').getByText('Not loaded').first().waitFor();
  await page.unroute(STORAGE, lost);
  await page.locator('.hits .picture img').first().waitFor();
});

test('an image whose address has ended is named so, and shown by another try', async ({ page }) => {
  await withKey(page);
  const ended = (route) =>
    /\.(jpe?g|png)/.test(route.request().url())
      ? route.fulfill({ status: 403, headers: { 'access-control-allow-origin': '*' } })
      : route.continue();
  await page.goto(`${UI}?q=photos`);
  await page.locator(HITS).first().click();
  await page.route(STORAGE, ended);
  await page
    .locator('.tree .file', { hasText: /\.jpe?g/ })
    .first()
    .click();
  await page.locator('.stage .failed', { hasText: 'replied with status 403' }).waitFor();
  await page.unroute(STORAGE, ended);
  await page.locator('.stage').getByRole('button', { name: 'Try again' }).click();
  await page.locator('.image img').waitFor();
  await page.locator('.stage .tools').waitFor();
});

test('a download is requested once, however often its button is pressed', async ({ page }) => {
  await withKey(page);
  await page.goto(`${UI}?q=lamp`);
  await page.locator(HITS, { hasText: /^lamp$/ }).click();
  await page.locator('.model[data-state=shown]').waitFor();
  let requests = 0;
  await page.route('**/download', async (route) => {
    requests += 1;
    await later(500)(route);
  });
  const download = page.getByRole('button', { name: 'Download', exact: true });
  const saved = page.waitForEvent('download');
  await download.dblclick();
  await saved;
  assert.equal(requests, 1);
});

test('an upload that a reload interrupts goes on in its asset, not in a second one', async ({
  page,
}) => {
  const name = `reloaded ${Date.now()}`;
  await page.route(STORAGE, (route) =>
    route.request().method() === 'PUT' ? undefined : route.continue(),
  );
  await (await chooseFiles(page, [file('a.txt')], name)).click();
  await page.locator('.files li', { hasText: '0 B of 1 B' }).waitFor();
  await page.unroute(STORAGE);
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  const chosen = page.getByLabel('Asset', { exact: true });
  await chosen.locator('option:checked', { hasText: name }).waitFor({ state: 'attached' });
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([file('a.txt')]);
  await page.getByRole('button', { name: 'Upload 1 file' }).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.goto(`${UI}?q=${quoted(name)}`);
  await page.getByRole('status').getByText('1 asset', { exact: true }).waitFor();
});

test('an upload goes on while its user looks at other pages', async ({ page }) => {
  const name = `followed ${Date.now()}`;
  await page.route(STORAGE, (route) =>
    route.request().method() === 'PUT' ? undefined : route.continue(),
  );
  await (await chooseFiles(page, [file('a.txt')], name)).click();
  await page.locator('.files li', { hasText: '0 B of 1 B' }).waitFor();
  await page.getByRole('link', { name: /^Vitrine/ }).click();
  await page.locator(HITS).first().waitFor();
  await page.locator('.activity', { hasText: '0 B of 1 B' }).waitFor();
  await accessible(page, 'an upload on another page');
  // What waits is sent.
  await page.unroute(STORAGE);
  await page.getByText('The upload is complete.').waitFor();
  await page.locator('.activity').waitFor({ state: 'detached' });
  await page.goto(`${UI}?q=${quoted(name)}`);
  await page.getByRole('status').getByText('1 asset', { exact: true }).waitFor();
});

test('another try of a viewer whose code is lost loads only this part', async ({ page }) => {
  const code = /\/assets\/texts-/;
  await page.route(code, (route) => route.abort('connectionreset'));
  await newAsset(page, [file('a.txt')], `lost part ${Date.now()}`);
  await page.locator('.stage .failed', { hasText: 'did not respond' }).waitFor();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Description').fill('typed before');
  await page.evaluate(() => (globalThis.isFirst = true));
  await page.unroute(code);
  await page.locator('.stage').getByRole('button', { name: 'Try again' }).press('Enter');
  await page.locator('.stage .text').waitFor();
  assert.ok(await page.evaluate(() => globalThis.isFirst), 'the page was not reloaded');
  assert.equal(await page.getByLabel('Description').inputValue(), 'typed before');
});
