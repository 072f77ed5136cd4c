// What a new user tries without reading anything: dropping, filters, looking through, wrong files.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from './fixtures.mjs';
import { accessible, drag, file, fits, HITS, newAsset, newFolder } from './walk.mjs';
import { SCRATCH, UI, withKey } from './walk.mjs';

async function find(page, path = '') {
  await withKey(page);
  await page.goto(UI + path);
  await page.locator(HITS).first().waitFor();
}

test('a folder that is dropped anywhere is shown on the page of uploads, and its name is suggested', async ({
  page,
}) => {
  await find(page);
  const name = `Dropped ${Date.now()}`;
  const drop = await drag(page, [newFolder(name)]);
  await page.getByText('Drop the files to upload them').waitFor();
  await accessible(page, 'files over the window');
  await drop();
  await page.locator('.files li').nth(1).waitFor();
  const names = await page.locator('.files .line').allTextContents();
  assert.deepEqual(names.sort(), ['a.txt', 'plans/b.txt']);
  assert.equal(await page.getByLabel('Name of the asset').inputValue(), name);
  await (
    await drag(page, [join(SCRATCH, name, 'a.txt')])
  )();
  await page.getByLabel('Database', { exact: true }).selectOption('library');
  await page.getByLabel('Description').fill('dropped');
  await page.getByRole('button', { name: 'Upload 2 files' }).click();
  await page.getByText('The upload is complete.').waitFor();
  // The same folder again, on its asset: nothing is sent twice.
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.asset .tree .file').first().waitFor();
  await (
    await drag(page, [join(SCRATCH, name)])
  )();
  await page.locator('select option:checked', { hasText: name }).waitFor({ state: 'attached' });
  await page.getByText('already there, same content, left out').nth(1).waitFor();
  await page.getByText('2 are already there with the same content (SHA-256).').waitFor();
});

test('the keys are listed at the question mark, and in the menu of the account', async ({
  open,
}) => {
  const { page } = await open({ viewport: { width: 360, height: 740 } });
  await find(page);
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keyboard and mouse' });
  await keys.waitFor();
  await accessible(page, 'the list of keys');
  // Also in a window that does not have room for all of it, and whose focus is in the list.
  const inView = ({ top, bottom }) => top >= 0 && bottom <= 740;
  for (const part of [keys.getByRole('heading').first(), keys.getByRole('button')]) {
    assert.ok(inView(await part.evaluate((element) => element.getBoundingClientRect().toJSON())));
  }
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Keyboard and mouse' }).click();
  await keys.waitFor();
});

test('nothing moves while a page loads, however late the rights of the user are known', async ({
  page,
}) => {
  await page.addInitScript(() => {
    globalThis.moved = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) {
        globalThis.moved.push([value, ...sources.map(({ node }) => node?.className)]);
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.route('**/auth/routes', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  await withKey(page);
  for (const path of ['', 'upload']) {
    await page.goto(UI + path);
    await page.getByRole('link', { name: 'Upload', exact: true }).waitFor();
    await page.locator(`${HITS}, .drop`).first().waitFor();
    await page.waitForTimeout(300);
    const moved = await page.evaluate(() => globalThis.moved);
    const sum = moved.reduce((total, [value]) => total + value, 0);
    assert.ok(sum < 0.005, `${path || 'find'}: ${JSON.stringify(moved)}`);
  }
  // The hits of a search stay until those of the next one are there.
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  await page.route('**/search', () => undefined);
  const sent = page.waitForRequest('**/search');
  await page.keyboard.press('/');
  await page.keyboard.type('lamp');
  await sent;
  assert.equal(await page.locator('.hits .waiting').count(), 0, 'hits vanish');
});

test('a broken model is named in the words of its reader, and a new asset has no version', async ({
  open,
}) => {
  const { page } = await open({ viewport: { width: 360, height: 740 } });
  const files = [file('broken.glb', 'this is no model')];
  await newAsset(page, files, `broken ${Date.now()}`, 'https://'.padEnd(250, 'x'));
  const reason = page.locator('.stage .failed');
  await reason.waitFor();
  const words = await reason.textContent();
  assert.match(words, /not a glTF document/);
  assert.doesNotMatch(words, /token/, 'the words of the browser');
  await page.locator('dt:has-text("Files changed") + dd', { hasText: /\d/ }).waitFor();
  assert.equal(await page.getByText('Version', { exact: true }).count(), 0);
  await fits(page);
});

test('a model for which the browser has no memory shows the reason', async ({ page }) => {
  await page.addInitScript(() => {
    Blob.prototype.arrayBuffer = () => Promise.reject(new RangeError('allocation failed'));
  });
  await find(page, '?q=robot-arm');
  await page.locator(HITS).first().click();
  await page.locator('.stage').getByText('This browser has not enough memory').waitFor();
});

test('without a database, one drop and one press lead to the first picture', async ({ page }) => {
  await withKey(page);
  let isCreated = false;
  await page.route(/\/database$/, (route) => {
    isCreated ||= route.request().method() === 'POST';
    return isCreated ? route.continue() : route.fulfill({ json: { Items: [] } });
  });
  await page.goto(`${UI}upload`);
  const model = '../../samples/library/gear/gear.stl';
  await page.locator('input[type=file]').first().setInputFiles(model);
  await page.getByLabel('Name of the database').fill(`first-${Date.now()}`);
  await accessible(page, 'a new database');
  await fits(page);
  await page.getByRole('button', { name: 'Upload 1 file' }).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.model[data-state=shown]').waitFor();
});
