// What can be done with selected assets: downloads and runs of workflows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from './fixtures.mjs';
import { accessible, file, fits, HITS, NARROW_AND_DARK, newAsset, UI, withKey } from './walk.mjs';

/** Selects the first hits of a search by keyboard. */
async function selected(page, words, number) {
  await withKey(page);
  await page.goto(`${UI}?q=${words}`);
  await page.locator(HITS).first().focus();
  for (let at = 0; at < number; at++) {
    if (at) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('x');
  }
  await page.locator('.selection', { hasText: `${number} selected` }).waitFor();
}

async function press(page, name) {
  await page.getByRole('button', { name, exact: true }).focus();
  await page.keyboard.press('Enter');
}

const dialog = (page) => page.locator('dialog[open]');
test('selected assets are downloaded as one file, by keyboard', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await selected(page, 'gear', 2);
  await press(page, 'Download');
  await dialog(page)
    .getByText(/^\d+ files, [\d.]+ kB$/)
    .waitFor();
  await accessible(page, 'the dialog of a download');
  await fits(page);
  const downloading = page.waitForEvent('download');
  await dialog(page).getByRole('button', { name: 'Download' }).focus();
  await page.keyboard.press('Enter');
  const download = await downloading;
  assert.equal(download.suggestedFilename(), 'assets.zip');
  const zip = readFileSync(await download.path());
  const model = readFileSync('../../samples/library/gear/gear.stl');
  assert.ok(zip.includes('gear/gear.stl') && zip.includes(model), 'whole files, in folders');
  await dialog(page).waitFor({ state: 'detached' });
  await page.getByText(/^\d+ files downloaded$/).waitFor();
  const focused = await page.evaluate(() => document.activeElement?.textContent);
  assert.equal(focused, 'Download', 'the focus returns to the button');
});

test('a workflow runs on the files of selected assets', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await selected(page, 'gear', 2);
  await press(page, 'Run a workflow');
  await dialog(page).getByLabel('Workflow').selectOption('vitrine-inspect');
  await dialog(page)
    .getByText(/^It will run on \d files of 2 assets, of the types that it is for\.$/)
    .waitFor();
  await accessible(page, 'the dialog of a run');
  await fits(page);
  await dialog(page).getByRole('button', { name: 'Run', exact: true }).press('Enter');
  await dialog(page)
    .getByText(/^\d runs? started:$/)
    .waitFor();
  await dialog(page)
    .getByRole('link', { name: /^Runs on / })
    .first()
    .waitFor();
  await dialog(page).getByRole('button', { name: 'Close' }).click();
  await page.locator('.selection', { hasText: '2 selected' }).waitFor();
});

test('a file that a browser could show is saved, and its page stays', async ({ page }) => {
  await withKey(page);
  const contents = { 'list ä.txt': 'a text', 'plan.json': '{}', 'pixel.png': '\x89PNG' };
  const files = Object.entries(contents).map(([name, content]) => file(name, content));
  await newAsset(page, files, 'Saved one by one');
  const address = page.url().split('?')[0];
  for (const [name, content] of Object.entries(contents)) {
    await page.locator('.tree .file', { hasText: name }).click();
    await page.locator('.tree .file[aria-current]', { hasText: name }).waitFor();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download', exact: true }).click();
    const download = await downloading;
    assert.equal(download.suggestedFilename(), name);
    assert.equal(readFileSync(await download.path(), 'utf8'), content);
    assert.equal(page.url().split('?')[0], address);
  }
});
