// Daily tasks, each with at most as many clicks and keys as the table in web/README.md says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { countActs } from './acts.mjs';
import { test } from './fixtures.mjs';
import {
  accessible,
  file,
  fits,
  newAsset,
  newDatabaseOfParts,
  request,
  triangle,
  withKey,
} from './walk.mjs';
import { CORNERS, NARROW_AND_DARK, UI } from './walk.mjs';

const dialog = (page) => page.getByRole('dialog');

test('a database is created from the list, whose cards have pictures', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await withKey(page);
  await page.goto(`${UI}databases`);
  await page.locator('.databases .newest img').first().waitFor();
  await accessible(page, 'the list of databases');
  const acts = countActs(page);
  await acts.click('button', 'New database');
  const name = `made-${Date.now()}`;
  await page.getByLabel('Name of the database').fill(name);
  await page.getByLabel('Description of the database').fill('of a walk');
  await fits(page);
  await accessible(page, 'a new database');
  await acts.press('Enter');
  await page.getByRole('heading', { name }).waitFor();
  acts.end('Create a database');
  await page.getByText('of a walk').waitFor();
});

test('metadata of an asset and of a file is edited by its schema, also by two people', async ({
  open,
}) => {
  const { page } = await open(NARROW_AND_DARK);
  const database = `schema-${Date.now()}`;
  await newDatabaseOfParts(database, true);
  const { id } = await newAsset(page, [file('a.txt')], 'a part', 'of a walk', database);
  const acts = countActs(page);
  await acts.click('button', 'Edit the metadata');
  const form = page.getByRole('form', { name: 'Edit the metadata' });
  await form.getByLabel('mass').fill('heavy');
  await accessible(page, 'the metadata of an asset');
  await fits(page);
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('The value must be a decimal number.').waitFor();
  await form.getByLabel('mass').fill('12.5');
  await form.getByLabel('material (required)').selectOption('brass');
  await acts.click('button', 'Save', form);
  await page.locator('.metadata .pairs', { hasText: 'brass' }).waitFor();
  acts.end('Edit a value of metadata');

  await page.getByRole('button', { name: 'Edit the metadata', exact: true }).click();
  const metadata = [{ metadataKey: 'mass', metadataValueType: 'number', metadataValue: '99' }];
  await request('PUT', `/database/${database}/assets/${id}/metadata`, { metadata });
  await form.getByLabel('mass').fill('13');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Someone else changed the same keys meanwhile.').waitFor();
  await form.locator('.theirs', { hasText: '99' }).waitFor();
  await accessible(page, 'a conflict of metadata');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.metadata .pairs', { hasText: '13' }).waitFor();

  await page.getByRole('button', { name: 'Edit the metadata of the file' }).click();
  const ofFile = page.getByRole('form', { name: 'Edit the metadata of the file' });
  await ofFile.getByRole('button', { name: 'Add a key' }).click();
  await page.keyboard.type('scanned by');
  await ofFile.getByLabel('Value').fill('ann <b>');
  await page.keyboard.press('Enter');
  await page.locator('.metadata .pairs', { hasText: 'ann <b>' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Edit');
});

test('versions are created, compared, looked at and restored', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const model = [file('a.gltf', triangle('a.bin', [])), { ...file('a.bin'), buffer: CORNERS }];
  const { database, id } = await newAsset(page, [...model, file('b.txt', 'first')], 'versioned');
  const url = page.url().replace(/\?.*/, '');
  const acts = countActs(page);
  const openVersions = () => acts.click('heading', 'Versions');
  await openVersions();
  await acts.click('button', 'Create a version');
  await dialog(page).getByLabel('Comment').fill('as <b>printed</b>');
  await accessible(page, 'a new version');
  await acts.click('button', 'Create', dialog(page));
  const first = page.getByRole('link', { name: 'Version 1', exact: true });
  await first.waitFor();
  acts.end('Create a version');
  await fits(page);
  await accessible(page, 'the versions of an asset');

  // Its file is replaced, and another one is added.
  await page.goto(`${UI}upload?database=${database}&asset=${id}`);
  const files = [file('b.txt', 'second'), file('c.txt')];
  await page.locator('input[type=file]').first().setInputFiles(files);
  await page.getByRole('button', { name: 'Upload 2 files' }).click();
  await page.getByText('The upload is complete.').waitFor();

  await page.goto(`${url}?file=/b.txt`);
  await page.locator('.stage .text', { hasText: 'second' }).waitFor();
  await openVersions();
  await acts.click('button', 'Compare');
  await dialog(page).getByText('1 file changed').waitFor();
  await dialog(page).getByText('1 file added').waitFor();
  acts.end('See what has changed since the last version');
  await accessible(page, 'two versions');
  await fits(page);
  await page.keyboard.press('Escape');

  await page.goto(`${url}?file=/b.txt`);
  await openVersions();
  await acts.click('link', 'Version 1');
  await page.locator('.stage .text', { hasText: 'first' }).waitFor();
  acts.end('See an old version');
  await accessible(page, 'an old version');
  await fits(page);
  await page.locator('.tree .file', { hasText: 'a.gltf' }).click();
  await page.locator('.model[data-state=shown]').waitFor();
  await page.getByRole('link', { name: 'Back to the newest files' }).click();

  await openVersions();
  await acts.click('button', 'Restore: Version 1');
  await dialog(page).getByText('1 file gets its earlier content').waitFor();
  await dialog(page).getByText('1 file that is not in the version remains as it is').waitFor();
  await accessible(page, 'a version that is restored');
  await acts.click('button', 'Restore', dialog(page));
  await page.getByText('Version 1 is restored as version 2.').waitFor();
  acts.end('Restore a version');
  await page.locator('.tree .file', { hasText: 'b.txt' }).click();
  await page.locator('.stage .text', { hasText: 'first' }).waitFor();

  await acts.click('button', 'Versions of this file');
  const earlier = dialog(page).locator('li', { hasNotText: 'newest' }).first();
  await accessible(page, 'the versions of a file');
  await acts.click('link', 'Look at it', earlier);
  await page.locator('.stage .text', { hasText: 'second' }).waitFor();
  acts.end('See an earlier content of a file');
  await page.getByText('You are looking at the content of').waitFor();
  await fits(page);
});

test('a folder is downloaded as one ZIP', async ({ page }) => {
  const { database, id } = await newAsset(page, [file('a.txt')], 'with a folder');
  const url = page.url().replace(/\?.*/, '');
  const folder = encodeURIComponent('/papers/');
  await page.goto(`${UI}upload?database=${database}&asset=${id}&folder=${folder}`);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([file('b.txt'), file('c.txt')]);
  await page.getByRole('button', { name: 'Upload 2 files' }).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.goto(url);
  const acts = countActs(page);
  const saving = page.waitForEvent('download');
  await page.locator('.tree .entry', { hasText: 'papers' }).first().waitFor();
  await page.getByLabel('Change papers', { exact: true }).focus();
  await acts.press('ArrowDown');
  await acts.press('Enter');
  assert.equal((await saving).suggestedFilename(), 'papers.zip');
  acts.end('Download a folder');
});

test('the runs of an asset are shown, one is run again, and jobs have a page', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const model = [file('a.gltf', triangle('a.bin', [])), { ...file('a.bin'), buffer: CORNERS }];
  await newAsset(page, model, 'inspected');
  await page.locator('.model[data-state=shown]').waitFor();
  const acts = countActs(page);
  await acts.click('heading', 'Runs of workflows');
  const run = page.locator('.timeline li', { hasText: 'a.gltf' }).first();
  await run.getByText('succeeded').waitFor();
  acts.end('See the runs of workflows on an asset');
  await fits(page);
  await accessible(page, 'the runs of an asset');
  await run.getByRole('button', { name: /^Details/ }).click();
  await dialog(page).getByText('Steps').waitFor();
  await accessible(page, 'a run');
  await page.keyboard.press('Escape');
  await run.getByRole('button', { name: /^Run again/ }).click();
  await page.getByText('The run is started again.').waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  await fits(page);
  await accessible(page, 'the jobs');
});

test('a file is dragged into a folder; what is archived comes back', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const name = `archived ${Date.now()}`;
  const { database, id } = await newAsset(page, [file('a.txt')], name);
  const url = page.url().replace(/\?.*/, '');
  const upload = `${UI}upload?database=${database}&asset=${id}`;
  const picker = page.locator('input[type=file]').first();
  const complete = page.getByText('The upload is complete.');
  const opener = (path) => page.getByLabel(`Change ${path}`, { exact: true });
  await page.goto(`${upload}&folder=${encodeURIComponent('/papers/')}`);
  await picker.setInputFiles([file('b.txt')]);
  await page.getByRole('button', { name: 'Upload 1 file' }).click();
  await complete.waitFor();
  const acts = countActs(page);
  await page.goto(upload);
  await picker.setInputFiles([file('b.txt', 'second')]);
  await page.getByText('These names exist at other paths').waitFor();
  await accessible(page, 'a file whose name exists');
  await fits(page);
  await acts.select('b.txt', 'A new version of papers/b.txt');
  await acts.click('button', 'Upload 1 file');
  await complete.waitFor();
  acts.end('Replace a file of another folder');

  await page.goto(url);
  await opener('papers/b.txt').waitFor();
  await acts.drag(
    page.locator('.tree .file', { hasText: 'a.txt' }),
    page.locator('.tree summary', { hasText: 'papers' }).first(),
  );
  await acts.click('button', 'Move', dialog(page));
  await opener('papers/a.txt').waitFor();
  acts.end('Move a file into a folder');

  await opener('papers').click();
  await page.locator('.file-menu').getByRole('button', { name: 'Archive' }).click();
  await dialog(page).getByRole('button', { name: 'Archive' }).click();
  await page.getByText('The folder papers is archived.').waitFor();
  await accessible(page, 'an offer to undo');
  await fits(page);
  await acts.click('button', 'Undo');
  await page.getByText('The folder papers is restored.').waitFor();
  await opener('papers/a.txt').waitFor();
  acts.end('Undo archiving');
  // The earlier name of the moved file was archived before.
  assert.equal(await opener('a.txt').count(), 0);

  const path = `/database/${database}/assets/${id}/archiveAsset`;
  await request('DELETE', path, { confirmArchive: true });
  await page.goto(`${UI}archived`);
  await page.getByRole('link', { name }).waitFor();
  await page
    .getByText(/^archived by /)
    .first()
    .waitFor();
  await accessible(page, 'archived assets');
  await fits(page);
  await acts.click('button', `Restore ${name}`);
  await page.getByText('The asset is restored.').waitFor();
  acts.end('Restore an archived asset');
});

test('the hits of a search are saved', async ({ page }) => {
  await withKey(page);
  await page.goto(`${UI}?q=gear`);
  const acts = countActs(page);
  await acts.click('button', 'Export');
  await accessible(page, 'an export');
  const saving = page.waitForEvent('download');
  await acts.click('button', 'Save as CSV');
  const lines = readFileSync(await (await saving).path(), 'utf8').split('\r\n');
  assert.ok(lines.some((line) => line.startsWith('library,gear,')));
  acts.end('Save the results of a search');
});
