// A viewer whose code is lost, and an upload to a busy server.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, chooseFiles, file, newAsset } from './walk.mjs';

test('another try of a viewer whose code is lost loads only this part', async ({ page }) => {
  const code = /\/assets\/TextView-/;
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

test('an upload that waits for a busy server says how long', async ({ page }) => {
  const start = await chooseFiles(page, [file('a.txt')], `busy ${Date.now()}`);
  let refusals = 1;
  await page.route('**/uploads', (route) =>
    route.request().method() === 'POST' && refusals-- > 0
      ? route.fulfill({
          status: 503,
          headers: { 'Retry-After': '4' },
          json: { message: 'Too many requests' },
        })
      : route.continue(),
  );
  await start.click();
  await page.getByText('The server is busy, and the upload waits:').waitFor();
  await page.getByText('It goes on in 3 seconds.').waitFor();
  await accessible(page, 'an upload that waits');
  await page.getByText('The upload is complete.').waitFor();
  assert.equal(await page.getByText('The server is busy').count(), 0);
});
