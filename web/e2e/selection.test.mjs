// What can be done with selected assets: downloads and runs of workflows.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from './fixtures.mjs';
import { accessible, file, HITS, newAsset, UI, withKey } from './walk.mjs';

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
const fits = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);
// With words for each: a run of a file is refused while another one is active.
const sizes = [
  ['light', 1280, 'gear'],
  ['dark', 360, 'furniture'],
];

for (const [colorScheme, width] of sizes) {
  test(`selected assets are downloaded as one file, by keyboard (${colorScheme}, ${width} px)`, async ({
    open,
  }) => {
    const viewport = { width, height: 800 };
    const { page } = await open({ colorScheme, viewport });
    await selected(page, 'gear', 2);
    await press(page, 'Download');
    await dialog(page)
      .getByText(/^\d+ files, [\d.]+ kB, in one ZIP file$/)
      .waitFor();
    await accessible(page, 'the dialog of a download');
    assert.ok(await fits(page));
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
}

test('what a download leaves out is named with its reason, and the selection remains', async ({
  page,
}) => {
  const name = `left out ${Date.now()}`;
  await newAsset(page, [file('a.txt', 'of a'), file('b.txt'), file('c.txt')], name);
  await page.getByRole('combobox').first().fill(name);
  await page.keyboard.press('Enter');
  await page.locator(HITS, { hasText: name }).focus();
  await page.keyboard.press('x');
  await page.route('**/listFiles?**', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.items.find((each) => each.relativePath === '/b.txt').isArchived = true;
    await route.fulfill({ response, json: body });
  });
  const message = '<b>The file is quarantined</b>';
  await page.route('**/download', (route) =>
    route.request().postDataJSON().key === '/c.txt'
      ? route.fulfill({ status: 403, json: { code: 'Quarantined', message } })
      : route.continue(),
  );
  await press(page, 'Download');
  await dialog(page).getByText(`${name}/b.txt Archived`).waitFor();
  const downloading = page.waitForEvent('download');
  await dialog(page).getByRole('button', { name: 'Download' }).click();
  const zip = readFileSync(await (await downloading).path());
  assert.ok(zip.includes('of a') && !zip.includes('/b.txt'));
  await dialog(page).getByText('1 file could not be downloaded:').waitFor();
  await dialog(page).locator('li', { hasText: message }).waitFor();
  await accessible(page, 'a download that left out a file');
  await page.keyboard.press('Escape');
  await page.locator('.selection', { hasText: '1 selected' }).waitFor();
  await page.unrouteAll();
  await page.route(/\/database\/[^/]+\/assets\/[^/?]+(\?.*)?$/, (route) =>
    route.fulfill({ json: { status: 'active', isDistributable: false } }),
  );
  await press(page, 'Download');
  await dialog(page).getByText(`${name} Download not allowed`).waitFor();
  assert.ok(await dialog(page).getByRole('button', { name: 'Download' }).isDisabled());
});

for (const [colorScheme, width, words] of sizes) {
  test(`a workflow runs on the files of selected assets (${colorScheme}, ${width} px)`, async ({
    open,
  }) => {
    const viewport = { width, height: 800 };
    const { page } = await open({ colorScheme, viewport });
    await selected(page, words, 2);
    await press(page, 'Run a workflow');
    await dialog(page).getByLabel('Workflow').selectOption('vitrine-inspect');
    await dialog(page)
      .getByText(/^It will run on \d files of 2 assets, of the types that it is for\.$/)
      .waitFor();
    await accessible(page, 'the dialog of a run');
    assert.ok(await fits(page));
    // The first asset is refused as a whole, the others start.
    let refused = 0;
    await page.route('**/workflows/vitrine-inspect', (route) => {
      const { fileKeys } = route.request().postDataJSON();
      const [code, message] = ['ExecutionActive', 'An execution <b>has not ended</b>'];
      const all = fileKeys.map((fileKey) => ({ fileKey, code, message }));
      const json = { message: 'No execution was started', executions: [], refused: all };
      return refused++ ? route.continue() : route.fulfill({ status: 409, json });
    });
    await dialog(page).getByRole('button', { name: 'Run', exact: true }).focus();
    await page.keyboard.press('Enter');
    await dialog(page)
      .getByText(/^\d runs? started\. To watch:$/)
      .waitFor();
    await dialog(page)
      .getByText(/could not be started:/)
      .waitFor();
    await dialog(page).locator('li', { hasText: '<b>has not ended</b>' }).first().waitFor();
    await dialog(page).locator('code', { hasText: 'vitrine executions list library' }).waitFor();
    await accessible(page, 'a run of which a part was refused');
    assert.ok(await fits(page));
    await page.unroute('**/workflows/vitrine-inspect');
    await dialog(page).getByRole('button', { name: 'Try again' }).click();
    await dialog(page).getByRole('button', { name: 'Try again' }).waitFor({ state: 'detached' });
    await dialog(page).getByRole('button', { name: 'Close' }).click();
    await page.locator('.selection', { hasText: '2 selected' }).waitFor();
  });
}

test('a refused run keeps the dialog open with what was chosen', async ({ page }) => {
  await selected(page, 'lighthouse', 1);
  await press(page, 'Run a workflow');
  await dialog(page).getByLabel('Workflow').selectOption('vitrine-inspect');
  await dialog(page).getByLabel('The assets as a whole').check();
  await dialog(page).getByText('It will run on 1 asset.').waitFor();
  await dialog(page).getByRole('button', { name: 'Run', exact: true }).click();
  await dialog(page)
    .locator('li', { hasText: /single file/ })
    .waitFor();
  assert.equal(await dialog(page).locator('code').count(), 0, 'nothing to watch');
  const chosen = dialog(page).getByLabel('Workflow').locator('option:checked');
  assert.equal(await chosen.textContent(), 'vitrine-inspect');
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
