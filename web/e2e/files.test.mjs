// Moving, renaming, copying, archiving, restoring and deleting files in the tree of an asset.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, newAsset as upload } from './walk.mjs';

const rows = (page) => page.locator('.tree .file');
const row = (page, name) => rows(page).filter({ has: page.getByText(name, { exact: true }) });
const opener = (page, name) => page.getByLabel(`Change ${name}`, { exact: true });
const dialog = (page) => page.getByRole('dialog');
const press = (page, name) => dialog(page).getByRole('button', { name, exact: true }).click();
const field = (page, name) => dialog(page).getByLabel(name, { exact: true });
const focused = (page) =>
  page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent);

/** Creates an asset with two small texts, and opens it. */
const newAsset = (page, name) =>
  upload(
    page,
    ['a.txt', 'b.txt'].map((item) => file(item, `content of ${item}`)),
    name,
  );

/** Opens the dialog of an act. */
async function act(page, path, name) {
  await opener(page, path).click();
  await page.locator('.file-menu').getByRole('button', { name, exact: true }).click();
  await dialog(page).waitFor();
}

async function settled(page, focus) {
  await dialog(page).waitFor({ state: 'detached' });
  await page.waitForFunction(
    (wanted) => (document.activeElement.ariaLabel ?? document.activeElement.textContent) === wanted,
    focus,
  );
}

test('a file is renamed, moved, copied, archived, restored and deleted', async ({ page }) => {
  await newAsset(page, `files ${Date.now()}`);
  await row(page, 'a.txt').click();
  await page.getByText('content of a.txt').waitFor();
  await page.getByText('Files with the extension .txt are not inspected').waitFor();

  await opener(page, 'a.txt').focus();
  await page.keyboard.press('Enter');
  await accessible(page, 'a menu of a file');
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('.file-menu[open]').count(), 0);
  await act(page, 'a.txt', 'Rename');
  await accessible(page, 'renaming a file');
  await page.keyboard.type('renamed');
  assert.equal(await field(page, 'File name').inputValue(), 'renamed.txt', 'the stem is chosen');
  await page.keyboard.press('Escape');
  await settled(page, 'Change a.txt');
  await act(page, 'a.txt', 'Rename');
  await page.keyboard.type('renamed');
  await page.keyboard.press('Enter');
  await settled(page, 'Change renamed.txt');
  assert.equal(new URL(page.url()).searchParams.get('file'), '/renamed.txt');
  await page.getByText('content of a.txt').waitFor();
  assert.equal(await row(page, 'a.txt').count(), 0);

  await act(page, 'renamed.txt', 'Move');
  await accessible(page, 'moving a file');
  await field(page, 'Folder').fill('/papers//2026/');
  await press(page, 'Move');
  await settled(page, 'Change papers/2026/renamed.txt');
  assert.equal(new URL(page.url()).searchParams.get('file'), '/papers/2026/renamed.txt');
  await page.locator('.tree summary', { hasText: 'papers' }).waitFor();

  await act(page, 'papers/2026/renamed.txt', 'Copy');
  await accessible(page, 'copying a file');
  assert.equal(await field(page, 'File name').inputValue(), 'renamed copy.txt');
  await field(page, 'Folder').fill('');
  await press(page, 'Copy');
  await settled(page, 'Change renamed copy.txt');
  assert.equal(await rows(page).count(), 3);

  await act(page, 'papers/2026/renamed.txt', 'Archive');
  await accessible(page, 'archiving a file');
  assert.equal(await focused(page), 'Cancel');
  await press(page, 'Archive');
  await settled(page, 'Files');
  assert.equal(new URL(page.url()).searchParams.get('file'), null);
  assert.equal(await row(page, 'renamed.txt').count(), 0);
  await page.getByLabel('Show archived files').check();
  await row(page, 'renamed.txt').first().waitFor();
  await accessible(page, 'archived files');
  await act(page, 'papers/2026/renamed.txt', 'Restore');
  await press(page, 'Restore');
  await settled(page, 'Change papers/2026/renamed.txt');
  await page.locator('.tree a.file', { hasText: 'renamed.txt' }).click();
  await page.getByText('content of a.txt').waitFor();

  await act(page, 'renamed copy.txt', 'Delete');
  await accessible(page, 'deleting a file');
  await dialog(page).getByText('This cannot be undone').waitFor();
  await press(page, 'Delete');
  await settled(page, 'Files');
  assert.equal(await row(page, 'renamed copy.txt').count(), 0);
  await act(page, 'papers', 'Delete');
  await press(page, 'Delete');
  await settled(page, 'Files');
  await page.getByLabel('Show archived files').uncheck();
  await page.waitForFunction(() => document.querySelectorAll('.tree .file').length === 1);
  assert.deepEqual(await rows(page).locator('bdi').allTextContents(), ['b.txt']);
});
