// Changing an asset in place, also while somebody else changes it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch } from './browser.mjs';
import { accessible, clean, open, UI, withKey } from './walk.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** Creates an asset without files, and returns its address. */
async function newAsset(page, name) {
  await withKey(page);
  await page.goto(`${UI}upload`);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([{ name: 'a.txt', mimeType: '', buffer: Buffer.from('x') }]);
  await page.getByLabel('Database', { exact: true }).selectOption({ index: 1 });
  await page.getByLabel('Name of the asset').fill(name);
  await page.getByLabel('Description').fill('as it was');
  await page.getByRole('button', { name: /^Upload/ }).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.asset h1', { hasText: name }).waitFor();
  return page.url();
}

const form = (page) => page.getByRole('form', { name: 'Edit the asset' });
const name = (page) => form(page).getByLabel('Name of the asset');
const description = (page) => form(page).getByLabel('Description');
const save = (page) => form(page).getByRole('button', { name: 'Save' }).click();

async function edit(page) {
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await name(page).waitFor();
}

test('their value is taken by a press, tags are added and removed, and leaving asks', async () => {
  const { context, page, seen } = await open(browser);
  const first = `taken ${Date.now()}`;
  const url = await newAsset(page, first);
  await edit(page);
  await name(page).fill('mine');
  const written = await page.request.put(
    url.replace('/ui/databases/', '/database/').replace(/\?.*$/, ''),
    {
      headers: {
        authorization: await page.evaluate(
          () => JSON.parse(sessionStorage.getItem('vitrine.credential')).token,
        ),
      },
      data: { assetName: `${first} of a program` },
    },
  );
  assert.equal(written.status(), 200);
  await save(page);
  await page.getByRole('button', { name: 'Use theirs' }).click();
  assert.equal(await name(page).inputValue(), `${first} of a program`);
  await form(page).getByLabel('Tags', { exact: true }).selectOption({ index: 1 });
  const tag = (await form(page).locator('.chip').first().textContent()).replace(/ ×$/, '');
  let asked = 0;
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => {
    asked += 1;
    void dialog.dismiss();
  });
  await page.getByRole('link', { name: /Vitrine/ }).click();
  await page.waitForTimeout(500);
  assert.equal(asked, 1, 'leaving with unsaved changes asks');
  await save(page);
  await page.locator('.asset .tags .tag', { hasText: tag }).waitFor();
  await page.locator('.asset h1', { hasText: 'of a program' }).waitFor();
  await edit(page);
  await page.getByRole('button', { name: `Remove the tag ${tag}` }).click();
  await save(page);
  await page.getByText('No tags').waitFor();
  const focused = await page.evaluate(() => document.activeElement?.textContent);
  assert.equal(focused, 'Edit', 'the focus returns to the button');
  clean(seen);
  await context.close();
});

test('without a connection, or if the asset is deleted, what was typed stays and a sentence says why', async () => {
  const { context, page, seen } = await open(browser);
  await newAsset(page, `lost ${Date.now()}`);
  await edit(page);
  await description(page).fill('typed before the connection was lost');
  await context.setOffline(true);
  await save(page);
  await form(page)
    .getByText(/did not respond/)
    .waitFor();
  await accessible(page, 'an edit without a connection');
  await context.setOffline(false);
  await page.route(/\/database\/[^/]+\/assets\/[^/?]+$/, (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({ status: 404, json: { code: 'NotFound', message: 'Asset was not found' } })
      : route.continue(),
  );
  await save(page);
  await form(page).getByText('Asset was not found').waitFor();
  assert.equal(await description(page).inputValue(), 'typed before the connection was lost');
  await page.unrouteAll();
  await save(page);
  await page.locator('.asset header', { hasText: 'typed before the connection' }).waitFor();
  clean(seen);
  await context.close();
});
