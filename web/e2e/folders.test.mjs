// Renaming and moving folders in the tree of an asset: their files, what misses them, and failures.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from './fixtures.mjs';
import {
  accessible,
  chooseFiles,
  CORNERS,
  file,
  fits,
  NARROW_AND_DARK,
  triangle,
} from './walk.mjs';

const dialog = (page) => page.getByRole('dialog');
const field = (page, name) => dialog(page).getByLabel(name, { exact: true });
const press = (page, name) => dialog(page).getByRole('button', { name, exact: true }).click();
const names = (page) => page.locator('.tree .file, .tree summary bdi').allInnerTexts();

/** Creates an asset with a folder of three files and two files beside it, and opens it. */
async function newFolder(page, name) {
  const files = {
    'parts/model.gltf': triangle('corners.bin', ['../skin.png']),
    'parts/corners.bin': CORNERS,
    'parts/sub/a.txt': 'a',
    'skin.png': 'x',
    'b.txt': 'b',
  };
  const root = mkdtempSync(join(tmpdir(), 'folder-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const start = await chooseFiles(page, [], name);
  await page.locator('input[type=file]').nth(1).setInputFiles(root);
  await start.click();
  await page.getByText('The upload is complete.').waitFor();
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.asset .tree .file').first().waitFor();
}

/** Opens the dialog of an act by the keyboard, or by the mouse. */
async function act(page, folder, name, byMouse = false) {
  const opener = page.getByLabel(`Change ${folder}`, { exact: true });
  const button = page.locator('.file-menu').getByRole('button', { name, exact: true });
  if (byMouse) {
    await opener.click();
    await button.click();
  } else {
    await opener.focus();
    await page.keyboard.press('ArrowDown');
    await button.focus();
    await page.keyboard.press('Enter');
  }
  await dialog(page).waitFor();
}

test('a folder is renamed and moved with its files', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await newFolder(page, `folders ${Date.now()}`);
  await page.goto(`${page.url().split('?')[0]}?file=%2Fparts%2Fsub%2Fa.txt`);
  await page.locator('.stage .text').waitFor();
  await act(page, 'parts', 'Rename');
  await dialog(page).getByText('It has 3 files.').waitFor();
  await accessible(page, 'renaming a folder');
  await fits(page);
  await page.keyboard.type('what?');
  await page.keyboard.press('Enter');
  await dialog(page).getByText('The name “what?” must not contain ?.').waitFor();
  await field(page, 'Folder name').fill('pieces');
  await page.keyboard.press('Enter');
  await page.getByText('The folder parts is renamed.').waitFor();
  await dialog(page).waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement.dataset?.path === '/pieces/');
  // The file that was shown is shown where it is now.
  await page.waitForURL(/file=%2Fpieces%2Fsub%2Fa\.txt/);
  assert.ok(!(await names(page)).includes('parts'));

  // What a model refers to is known once it is inspected.
  await page.locator('.tree .file', { hasText: 'model.gltf' }).click();
  await page.getByText('Files that it needs').waitFor();
  await act(page, 'pieces', 'Move', true);
  await field(page, 'Into the folder').fill('pieces/sub');
  await press(page, 'Move');
  await dialog(page).getByText('A folder cannot be moved into itself.').waitFor();
  await field(page, 'Into the folder').fill('old/models');
  await dialog(page)
    .getByText(/refer to a file outside of it by its relative path/)
    .waitFor();
  await dialog(page).getByText('/skin.png').waitFor();
  await accessible(page, 'moving a folder');
  await press(page, 'Move');
  await page.getByText('The folder pieces is moved.').waitFor();
  await page.getByLabel('Change old/models/pieces', { exact: true }).waitFor();
  assert.equal(await page.getByLabel('Change pieces', { exact: true }).count(), 0);
});

test('files go into a folder by its menu, which a right click opens', async ({ page }) => {
  await newFolder(page, `into a folder ${Date.now()}`);
  await page.locator('summary', { hasText: 'parts' }).first().click({ button: 'right' });
  await page.locator('.file-menu').getByRole('button', { name: 'Upload here' }).click();
  await page.getByText('The files go into the folder parts.').waitFor();
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([file('new.txt')]);
  await page.locator('.files li', { hasText: 'parts/new.txt' }).waitFor();
  await accessible(page, 'an upload into a folder');
  await page.getByRole('button', { name: 'Upload 1 file' }).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.tree .file', { hasText: 'new.txt' }).waitFor();
  assert.equal(await page.locator('[data-folder="/parts/"] .file', { hasText: 'new' }).count(), 1);
});
