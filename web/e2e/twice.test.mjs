// Buttons that are pressed twice on a slow network: each act is done once.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { chooseFiles, endpoint, file, HITS, quoted, UI, vitrine } from './walk.mjs';

const LATENCY = 1_000;
const READS = /\/(search|previews)$/;

/** Slows the requests to the server down by a second, and returns a function that presses twice. */
async function slow(page) {
  const sent = [];
  await page.route(`${endpoint.api}/**`, async (route) => {
    const request = route.request();
    const { pathname } = new URL(request.url());
    if (/^(GET|OPTIONS)$/.test(request.method()) || READS.test(pathname)) return route.continue();
    // Another version is another try: the server notes the type of a new asset meanwhile.
    const version = request.headers()['if-match'] ?? '';
    sent.push(`${request.method()} ${pathname} ${version} ${request.postData() ?? ''}`);
    await new Promise((resolve) => setTimeout(resolve, LATENCY));
    await route.continue().catch(() => undefined); // the page has left
  });
  const twice = async (button, ended, how = 'mouse') => {
    sent.length = 0;
    if (how === 'mouse') await button.dblclick();
    else {
      await button.focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Enter');
    }
    await ended.waitFor();
    assert.ok(sent.length > 0);
    assert.deepEqual(sent, [...new Set(sent)], 'no request is repeated');
  };
  return twice;
}

const button = (within, name) => within.getByRole('button', { name, exact: true });
const said = (page, words) => page.locator('.toast.shown', { hasText: words });
const dialog = (page) => page.getByRole('dialog');

test('signing in, uploading and editing are done once, however often they are pressed', async ({
  page,
}) => {
  const twice = await slow(page);
  await page.goto(UI);
  await page.getByLabel('API key', { exact: true }).fill('vams_wrong');
  await twice(button(page, 'Sign in'), page.getByText('does not accept'));
  const name = `twice ${Date.now()}`;
  const upload = await chooseFiles(page, [file('a.txt'), file('b.txt')], name);
  await twice(upload, page.getByText('The upload is complete.'));
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await button(page, 'Edit').click();
  const text = page.getByLabel('Description');
  await text.fill('pressed twice');
  await twice(button(page, 'Save'), said(page, 'Saved'));
  await button(page, 'Edit').click();
  await text.fill('pressed by the keyboard');
  const written = page.getByRole('paragraph').filter({ hasText: 'pressed by the keyboard' });
  await twice(button(page, 'Save'), written, 'keyboard');
  vitrine('wait');
  await page.goto(`${UI}?q=${quoted(name)}`);
  await page.getByRole('status').getByText('1 asset', { exact: true }).waitFor();
});

test('files and folders are changed once', async ({ page }) => {
  const twice = await slow(page);
  const name = `twice changed ${Date.now()}`;
  await (await chooseFiles(page, [file('a.txt')], name)).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.getByRole('link', { name: 'Open the asset' }).click();
  const begin = async (path, act) => {
    await page.getByLabel(`Change ${path}`, { exact: true }).click();
    await button(page.locator('.file-menu'), act).click();
  };
  const inDialog = (act) => button(dialog(page), act);
  for (const how of ['mouse', 'keyboard']) {
    await begin('a.txt', 'Rename');
    await page.getByLabel('File name').fill('b.txt');
    await twice(inDialog('Rename'), said(page, 'is renamed'), how);
    await begin('b.txt', 'Copy');
    await page.getByLabel('File name').fill('a.txt');
    await twice(inDialog('Copy'), said(page, 'is copied'), how);
    await begin('b.txt', 'Move');
    await dialog(page).getByLabel('Folder', { exact: true }).fill(how);
    await twice(inDialog('Move'), said(page, 'is moved'), how);
    await begin(how, 'Rename');
    await page.getByLabel('Folder name').fill(`${how} renamed`);
    await twice(inDialog('Rename'), said(page, 'is renamed'), how);
    await begin(`${how} renamed`, 'Delete');
    await twice(inDialog('Delete'), said(page, 'is deleted'), how);
  }
  await begin('a.txt', 'Archive');
  await twice(inDialog('Archive'), said(page, 'is archived'));
  await page.getByLabel('Show archived files').check();
  await begin('a.txt', 'Restore');
  await twice(inDialog('Restore'), said(page, 'is restored'));
});

test('what is done with selected assets, and to a database, is done once', async ({ page }) => {
  const twice = await slow(page);
  const name = `twice selected ${Date.now()}`;
  await (await chooseFiles(page, [file('a.stl')], name)).click();
  await page.getByText('The upload is complete.').waitFor();
  vitrine('wait');
  vitrine('tags', 'create', name, '--description', 'of a walk');
  await page.goto(`${UI}?q=${quoted(name)}&archived=true`);
  await page.locator(HITS).first().waitFor();
  const select = () => page.locator('[data-index="0"] .select').check();
  const bar = page.locator('.selection');
  await select();
  await button(bar, 'Download').click();
  await twice(button(dialog(page), 'Download'), said(page, 'downloaded'));
  await button(bar, 'Run a workflow').click();
  await dialog(page).getByLabel('Workflow').selectOption('vitrine-inspect');
  await twice(button(dialog(page), 'Run'), button(dialog(page), 'Close'));
  await button(dialog(page), 'Close').click();
  await button(bar, 'Add a tag').click();
  await dialog(page).getByRole('combobox').selectOption(name);
  await twice(button(dialog(page), 'Add a tag'), said(page, 'tagged'));
  await select();
  await button(bar, 'Archive').click();
  await twice(button(dialog(page), 'Archive'), said(page, '1 asset archived'));
  await page.locator('.hits', { hasText: 'Archived' }).waitFor();
  await select();
  await twice(button(bar, 'Restore'), said(page, '1 asset restored'));

  const database = `twice-${Date.now()}`;
  vitrine('databases', 'create', database, '--description', 'of a walk');
  await page.goto(`${UI}databases/${database}`);
  await button(page, 'Edit the description').click();
  await page.getByRole('textbox', { name: 'Description' }).fill('pressed twice');
  await twice(button(page, 'Save'), page.getByText('pressed twice'));
});
