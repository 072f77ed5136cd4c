// Moving, renaming, copying, archiving, restoring and deleting files in the tree of an asset.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, HITS, UI, vitrine, withKey } from './walk.mjs';

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
    ['a.txt', 'b.txt'].map((each) => file(each, `content of ${each}`)),
    name,
  );

/** Opens the dialog of an act by the keyboard. */
async function act(page, path, name) {
  await opener(page, path).focus();
  await page.keyboard.press('Enter');
  await page.locator('.file-menu').getByRole('button', { name, exact: true }).focus();
  await page.keyboard.press('Enter');
  await dialog(page).waitFor();
}

async function settled(page, focus) {
  await dialog(page).waitFor({ state: 'detached' });
  await page.waitForFunction(
    (wanted) => (document.activeElement.ariaLabel ?? document.activeElement.textContent) === wanted,
    focus,
  );
}

for (const colorScheme of ['light', 'dark']) {
  test(`a file is renamed, moved, copied, archived, restored and deleted (${colorScheme})`, async ({
    open,
  }) => {
    const { page } = await open({ colorScheme });
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
}

test('a file is copied into another asset', async ({ page }) => {
  const name = `target ${Date.now()}`;
  const target = await newAsset(page, name);
  await newAsset(page, `source ${Date.now()}`);
  await act(page, 'b.txt', 'Copy');
  await field(page, 'Another asset').check();
  await field(page, 'Database').selectOption(target.database);
  await press(page, 'Copy');
  await dialog(page).getByText('Asset is required.').waitFor();
  await field(page, 'Find the asset by a part of its name').fill(name);
  await field(page, 'Asset').selectOption(name);
  await accessible(page, 'copying to another asset');
  await press(page, 'Copy');
  await settled(page, 'Change b.txt');
  await page.goto(`${UI}databases/${target.database}/assets/${target.id}?file=/b%20copy.txt`);
  await page.getByText('content of b.txt').waitFor();
});

test('a conflict, a refusal, a busy server and a lost reply are named, and what was typed stays', async ({
  context,
  page,
}) => {
  const { database, id } = await newAsset(page, `refused ${Date.now()}`);
  await act(page, 'a.txt', 'Rename');
  await field(page, 'File name').fill('a.txt');
  await press(page, 'Rename');
  await dialog(page).getByText('The file is there already.').waitFor();
  await field(page, 'File name').fill('b.txt');
  await press(page, 'Rename');
  await dialog(page).getByText('The asset already has a file /b.txt.').waitFor();
  assert.equal(await field(page, 'File name').inputValue(), 'b.txt');
  await accessible(page, 'a name that is taken');
  await field(page, 'File name').fill('b/c.txt');
  await press(page, 'Rename');
  await dialog(page).getByText('must not contain a slash').waitFor();
  await field(page, 'File name').fill('<b>.txt');
  await press(page, 'Rename');
  await dialog(page)
    .locator('.failure', { hasText: 'The name “<b>.txt” must not contain < >.' })
    .waitFor();
  await field(page, 'File name').fill('kept as typed.txt');
  for (const [status, json, words] of [
    [403, { code: 'PermissionDenied', message: 'You may not change it' }, 'You may not change it.'],
    [429, { message: 'Too many requests' }, 'too many requests'],
    [502, { message: 'Bad Gateway' }, 'it is not known whether the change was made'],
  ]) {
    await page.route('**/moveFile', (route) => route.fulfill({ status, json }));
    await press(page, 'Rename');
    await dialog(page).getByText(words).waitFor();
    await page.unroute('**/moveFile');
  }
  await context.setOffline(true);
  await press(page, 'Rename');
  await dialog(page).getByText('did not respond, and it is not known').waitFor();
  await context.setOffline(false);
  // The request arrives, and the reply is lost: the list behind the dialog shows the outcome.
  await page.route('**/moveFile', async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  });
  await press(page, 'Rename');
  await row(page, 'kept as typed.txt').waitFor();
  assert.equal(await field(page, 'File name').inputValue(), 'kept as typed.txt');
  await page.unroute('**/moveFile');
  await press(page, 'Rename');
  await dialog(page).getByText('The file is archived: restore it first.').waitFor();
  await press(page, 'Cancel');

  await act(page, 'b.txt', 'Archive');
  vitrine('delete', database, id, '--yes');
  await press(page, 'Archive');
  await dialog(page)
    .locator('.failure', { hasText: /not found|does not exist|no asset/i })
    .waitFor();
});

test('a long change is waited for, and its end is shown also after the dialog was closed', async ({
  page,
}) => {
  await newAsset(page, `long ${Date.now()}`);
  await page.route('**/deleteFile', async (route) => {
    const done = await route.fetch();
    await route.fulfill({ json: { ...(await done.json()), jobId: 'changeFiles.walk' } });
  });
  const states = ['queued', 'running', 'failed', 'running', 'running', 'done'];
  await page.route('**/jobs/changeFiles.walk', (route) =>
    route.fulfill({ json: { state: states.shift(), problems: ['The disk is full'] } }),
  );
  await act(page, 'a.txt', 'Delete');
  await press(page, 'Delete');
  await dialog(page).getByText('This takes longer.').waitFor();
  await accessible(page, 'a long change');
  await dialog(page).getByText('The disk is full').waitFor();
  await press(page, 'Cancel');
  await act(page, 'b.txt', 'Delete');
  await press(page, 'Delete');
  await dialog(page).getByText('This takes longer.').waitFor();
  await press(page, 'Close');
  await page.getByRole('status').getByText('b.txt is deleted.').waitFor();
});

test('who may only read is offered no changes', async ({ page }) => {
  await withKey(page);
  await page.route('**/auth/routes', async (route) => {
    const given = await (await route.fetch()).json();
    const allowed = given.allowedRoutes.filter((each) => each.route__path !== '/upload');
    await route.fulfill({ json: { ...given, allowedRoutes: allowed } });
  });
  await page.goto(`${UI}?q=planetary-gear`);
  await page.locator(HITS).first().click();
  await rows(page).first().waitFor();
  assert.equal(await page.locator('.file-menu').count(), 0);
  assert.equal(await page.getByLabel('Show archived files').count(), 0);
});

test('an archived asset lists its files, and is restored with them', async ({ page }) => {
  const { database, id } = await newAsset(page, `archived ${Date.now()}`);
  const read = page.url();
  vitrine('archive', database, id, '--yes');
  await page.goto(`${read.replace(/\?.*/, '')}?file=/a.txt`);
  await page.getByText('This asset is archived.').waitFor();
  await row(page, 'a.txt').waitFor();
  assert.equal(await rows(page).count(), 2);
  assert.equal(await page.locator('.side .failure').count(), 1, 'only that it is archived');
  assert.equal(await page.locator('.stage .failed, .file-menu').count(), 0);
  await accessible(page, 'an archived asset');
  await page.route('**/unarchiveAsset', (route) =>
    route.fulfill({ status: 403, json: { code: 'PermissionDenied', message: 'You may not' } }),
  );
  const restore = page.getByRole('button', { name: 'Restore the asset' });
  await restore.click();
  await page.locator('.stage').getByText('You may not.').waitFor();
  await page.unroute('**/unarchiveAsset');
  await restore.click();
  await page.getByText('content of a.txt').waitFor();
  assert.equal(await page.getByText('This asset is archived.').count(), 0);
  await opener(page, 'a.txt').waitFor();
});
