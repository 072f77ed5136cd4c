// What goes wrong during work: names, refusals, a server that is busy, a deleted asset.
import assert from 'node:assert/strict';
import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from './fixtures.mjs';
import {
  accessible,
  chooseFiles,
  endpoint,
  file,
  fits,
  HITS,
  newAsset,
  UI,
  withKey,
} from './walk.mjs';

test('names in any script, the longest names and empty files are kept as they are', async ({
  page,
}) => {
  const names = [
    '😀 e\u0301t\u00e9 مرحبا.txt',
    `${'n'.repeat(251)}.txt`,
    '"onmouseover=alert(1) x=".txt'.replaceAll('"', "'"),
    '${alert(1)} {{7+7}}.txt',
    'empty.glb',
  ];
  const files = names.map((name) => file(name, name === 'empty.glb' ? '' : name));
  await newAsset(page, files, `names ${Date.now()}`);
  const shown = await page.locator('.asset .tree .file bdi').allTextContents();
  const expected = names.map((name) => name.normalize('NFC'));
  assert.deepEqual(new Set(shown.map((item) => item.trim())), new Set(expected));
  await fits(page);
  await page.locator('.tree .file', { hasText: 'empty.glb' }).click();
  await page.locator('.stage').getByText(/.+/).first().waitFor();
  await accessible(page, 'an asset with long names');
});

test('refused files are named with their reasons, and only the others are sent, also by another try', async ({
  page,
}) => {
  // Other names are refused before they are sent; which letters a joiner shapes, the server knows.
  const bad = ['a\u200cb.txt', 'c\u200dd.txt', 'e\u200df.txt'];
  const reasons = [/U\+200C/, /U\+200D/, /U\+200D/];
  const good = Array.from({ length: 8 }, (_, at) => file(`good ${at}.txt`));
  const storage = `${new URL(endpoint.s3).origin}/**`;
  // One of the good files is refused by the storage, also at the new address that it then gets.
  let refusals = 2;
  await page.route(storage, (route) =>
    route.request().method() === 'PUT' && refusals-- > 0
      ? route.fulfill({ status: 403, headers: { 'access-control-allow-origin': '*' } })
      : route.continue(),
  );
  const files = [...good, ...bad.map((name) => file(name))];
  await (await chooseFiles(page, files, `r ${Date.now()}`)).click();
  const again = page.getByRole('button', { name: 'Try the failed files again' });
  await again.waitFor();
  const failed = page.locator('.files li', { has: page.locator('.failure') });
  assert.equal(await failed.count(), bad.length + 1, `${await failed.allTextContents()}`);
  await page.getByText('4 files could not be uploaded.').waitFor();
  await accessible(page, 'an upload with refused files');
  let sent = 0;
  page.on('request', (request) => {
    sent += request.method() === 'POST' && /\/uploads$/.test(request.url()) ? 1 : 0;
  });
  await again.click();
  await page.getByText('3 files could not be uploaded.').waitFor();
  assert.equal(sent, 1, 'what was refused is not sent again');
  assert.equal(
    await again.count(),
    0,
    `another try cannot succeed: ${await failed.allTextContents()}`,
  );
  const texts = await failed.allTextContents();
  for (const [at, reason] of reasons.entries()) {
    assert.ok(
      texts.some((text) => reason.test(text)),
      `${bad[at]}: ${texts}`,
    );
  }
  assert.equal(await page.locator('.files li', { hasText: 'done' }).count(), 8);
});

test('an upload can be paused, and the same files chosen again are not sent twice', async ({
  context,
  page,
}) => {
  const files = Array.from({ length: 3 }, (_, at) => file(`part ${at}.txt`, 'y'.repeat(4000)));
  const name = `again ${Date.now()}`;
  const upload = await chooseFiles(page, files, name);
  let go = () => undefined;
  const held = new Promise((resolve) => (go = resolve));
  await page.route(`${new URL(endpoint.s3).origin}/**`, async (route) => {
    if (route.request().method() === 'PUT') await held;
    await route.continue();
  });
  await upload.click();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  go();
  await page.waitForTimeout(1500);
  assert.equal(await page.getByText('The upload is complete.').count(), 0);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('The upload is complete.').waitFor();
  const asset =
    page.url() && (await page.getByRole('link', { name: 'Open the asset' }).getAttribute('href'));
  await page.close();
  // Another tab, as after the first one was closed.
  const again = await context.newPage();
  let sent = 0;
  again.on('request', (request) => {
    if (request.method() === 'PUT' && request.url().startsWith(endpoint.s3)) sent += 1;
  });
  await withKey(again);
  const [, database, id] = /databases\/([^/]+)\/assets\/([^/?]+)/.exec(asset);
  await again.goto(`${UI}upload?database=${database}&asset=${id}`);
  await again
    .locator('input[type=file]')
    .first()
    .setInputFiles([...files, file('new.txt')]);
  await again.getByRole('button', { name: /^Upload/ }).click();
  await again.getByText('The upload is complete.').waitFor();
  assert.equal(sent, 1, 'only the new file is sent');
});

test('a file over 100 MB goes on after the parts of a closed tab, and is shown on request', async ({
  context,
  page,
}) => {
  const path = join(process.env.VITRINE_SCRATCH ?? '.', `large-${Date.now()}.glb`);
  writeFileSync(path, 'x');
  truncateSync(path, 96 * 1024 * 1024); // sparse: three parts
  const upload = await chooseFiles(page, path, `large ${Date.now()}`);
  const storage = new URL(endpoint.s3).origin;
  const isPart = (request) => request.method() === 'PUT' && request.url().startsWith(storage);
  const partOf = (request) => /partNumber=(\d+)/i.exec(request.url())[1];
  const stored = new Set();
  page.on('response', (response) => {
    if (isPart(response.request()) && response.ok()) stored.add(partOf(response.request()));
  });
  await page.route(`${storage}/**`, async (route) => {
    // The third part never arrives.
    if (isPart(route.request()) && /partNumber=3\b/i.test(route.request().url())) return;
    await route.continue();
  });
  await upload.click();
  while (stored.size < 2) await page.waitForTimeout(100);
  const [, database, id] = /database\/([^/]+)\/assets\/([^/?]+)/.exec(
    await page.evaluate(
      () =>
        performance.getEntriesByType('resource').findLast((item) => /listFiles/.test(item.name))
          .name,
    ),
  );
  await page.close({ runBeforeUnload: false });
  const again = await context.newPage();
  const sent = [];
  again.on('request', (request) => isPart(request) && sent.push(partOf(request)));
  const replies = [];
  again.on('response', async (response) => {
    if (!/\/uploads\b/.test(new URL(response.url()).pathname)) return;
    const body = await response.text().catch(String);
    replies.push(`${response.request().method()} ${response.url()} ${response.status()} ${body}`);
  });
  await withKey(again);
  await again.goto(`${UI}upload?database=${database}&asset=${id}`);
  await again.locator('input[type=file]').first().setInputFiles(path);
  await again.getByRole('button', { name: /^Upload/ }).click();
  await again.getByText('The upload is complete.').waitFor();
  assert.ok(sent.includes('3'), 'the part that never arrived is sent');
  assert.deepEqual(
    sent.filter((item) => stored.has(item)),
    [],
    `parts that were stored are not sent again: ${replies.join('\n').slice(-4000)}`,
  );
  rmSync(path);
  await again.getByRole('link', { name: 'Open the asset' }).click();
  await again.getByText('This model is 101 MB. Loading it may take a while.').waitFor();
  await accessible(again, 'a large model');
  await again.getByRole('button', { name: 'Load it' }).click();
  await again.locator('.stage .note.failed').waitFor();
});

test('a model whose connection is lost half way shows that, and is loaded by another try', async ({
  page,
}) => {
  await withKey(page);
  let lost = true;
  await page.route(`${new URL(endpoint.s3).origin}/**`, (route) =>
    lost && /\.(glb|gltf|csv)/.test(route.request().url())
      ? route.abort('connectionreset')
      : route.continue(),
  );
  await page.goto(`${UI}?q=planetary-gear`);
  await page.locator(HITS).first().click();
  await page.locator('.stage .failed', { hasText: 'did not respond' }).waitFor();
  await accessible(page, 'a model without a connection');
  await page.locator('.tree .file', { hasText: 'parts.csv' }).click();
  await page.locator('.stage .failed', { hasText: 'did not respond' }).waitFor();
  lost = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('table', { name: 'parts.csv' }).waitFor();
  await page.locator('.tree .file', { hasText: 'planetary-gear.glb' }).click();
  await page.locator('.model[data-state=shown]').waitFor();
});
