// What an asset consists of, where it is used, what its files lack, and what is like them.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, CORNERS, file, HITS, newAsset, triangle, UI, withKey } from './walk.mjs';

const part = (page, title) => page.getByRole('region', { name: title, exact: true });

for (const colorScheme of ['light', 'dark']) {
  test(`an asset shows what uses it, its parts and similar shapes as pictures (${colorScheme})`, async ({
    open,
  }) => {
    const { page } = await open({ colorScheme });
    await withKey(page);
    await page.goto(`${UI}?q=planetary-gear`);
    await page.locator(HITS).first().click();
    await part(page, 'Used in').getByRole('link', { name: 'robot-arm' }).waitFor();
    await part(page, 'Parts').locator('img').nth(3).waitFor();
    await accessible(page, 'an asset with relations');
    // A picture opens its asset, whose page leads back.
    await part(page, 'Parts').getByRole('link', { name: 'ring-gear' }).click();
    await page.locator('.asset h1', { hasText: 'ring-gear' }).waitFor();
    // The same shape in another format, and no other gear.
    await part(page, 'Similar shapes').locator('img').first().waitFor();
    const alike = await part(page, 'Similar shapes').locator('li').allInnerTexts();
    assert.match(alike.join('\n'), /^\D*(9\d|100)\s?%\D*$/);
    await part(page, 'Used in').getByRole('link', { name: 'planetary-gear' }).waitFor();
  });
}

test('a file that another one uses names it, and both lead to each other', async ({ page }) => {
  await withKey(page);
  await page.goto(`${UI}?q=lamp`);
  await page.locator(HITS, { hasText: /^lamp$/ }).click();
  await part(page, 'Files that it needs').getByRole('link', { name: 'lamp.bin' }).click();
  await part(page, 'Files that use this file').getByRole('link', { name: 'lamp.gltf' }).click();
  await part(page, 'Files that it needs').getByRole('link', { name: 'lamp.bin' }).waitFor();
});

test('files that a new model lacks are named as soon as it is inspected, also at 360 px', async ({
  open,
}) => {
  const { page } = await open({ viewport: { width: 360, height: 740 } });
  const missing = '<img src=x onerror=alert(1)>.png';
  const model = triangle('a.bin', [encodeURIComponent(missing), '../outside.png']);
  await newAsset(page, [file('a.gltf', model), file('a.bin', CORNERS)], `lacks ${Date.now()}`);
  await page.getByText('2 of these files are missing').waitFor();
  await page.locator('.tree .file', { hasText: 'a.gltf' }).getByText('2 missing files').waitFor();
  const lacking = await part(page, 'Files that it needs').locator('.lacking').allInnerTexts();
  assert.ok(
    lacking.some((each) => each.includes(missing)),
    `${lacking}`,
  );
  assert.ok(
    lacking.some((each) => each.includes('outside the asset')),
    `${lacking}`,
  );
  await part(page, 'Files that it needs').getByRole('link', { name: 'a.bin' }).waitFor();
  await part(page, 'Files that it needs')
    .getByRole('link', { name: 'Upload the missing' })
    .waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} px wide`);
  await accessible(page, 'a model that lacks files');
});

for (const [width, colorScheme] of [
  [360, 'light'],
  [1280, 'dark'],
]) {
  test(`what is moved, renamed, archived or deleted names what will miss it (${width} px)`, async ({
    open,
  }) => {
    const viewport = { width, height: 740 };
    const { page } = await open({ viewport, colorScheme });
    const model = triangle('parts/a.bin', ['parts/b.png']);
    const files = [
      file('a.gltf', model),
      file('a.bin', CORNERS),
      file('lonely.txt', 'nobody refers to this'),
    ];
    await newAsset(page, files, `misses ${Date.now()}`);
    const dialog = page.getByRole('dialog');
    const act = async (path, name) => {
      await page.getByLabel(`Change ${path}`, { exact: true }).click();
      await page.locator('.file-menu').getByRole('button', { name, exact: true }).click();
      await dialog.waitFor();
    };
    await act('a.bin', 'Move');
    await dialog.getByLabel('Folder').fill('parts');
    await dialog.getByRole('button', { name: 'Move' }).click();
    await dialog.waitFor({ state: 'detached' });
    // The model is inspected again once its data is there.
    await page.getByText('One of these files is missing').waitFor();
    const refers = dialog.getByRole('alert').getByText('A file of this asset refers to');
    for (const [path, name] of [
      ['parts/a.bin', 'Rename'],
      ['parts/a.bin', 'Move'],
      ['parts/a.bin', 'Archive'],
      ['parts/a.bin', 'Delete'],
      ['parts', 'Archive'],
      ['parts', 'Delete'],
    ]) {
      await act(path, name);
      await refers.waitFor();
      assert.equal(await dialog.locator('li').innerText(), '/a.gltf');
      if (path === 'parts/a.bin' && name === 'Rename') {
        await accessible(page, 'a file that another one will miss');
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `the page is ${wide} px wide`);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    await act('a.gltf', 'Move');
    await page.waitForTimeout(500);
    assert.equal(await dialog.getByRole('alert').count(), 0, 'it stays where it is');
    await dialog.getByLabel('Folder').fill('elsewhere');
    await dialog.getByText('It refers to a file by its relative path').waitFor();
    await page.keyboard.press('Escape');
    await act('lonely.txt', 'Delete');
    await dialog.getByText('This cannot be undone').waitFor();
    await page.waitForTimeout(500);
    assert.equal(await dialog.getByRole('alert').count(), 0);
  });
}

test('assets that are archived name those that consist of them', async ({ page }) => {
  await withKey(page);
  await page.goto(`${UI}?q=ring-gear`);
  await page.locator(HITS, { hasText: /^ring-gear$/ }).focus();
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('An asset has some of them as parts').waitFor();
  assert.match(await dialog.getByRole('alert').innerText(), /planetary-gear/);
  await accessible(page, 'archiving a part');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
});

test('the metadata of an asset is shown by its types, and runs nothing', async ({ open }) => {
  const { page } = await open({ locale: 'de-DE' });
  await withKey(page);
  const hostile = '<img src=x onerror=alert(1)> javascript:alert(1) https://192.0.2.1/';
  await page.route(/\/metadata(\?|$)/, async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    body.metadata.push({
      ...body.metadata[0],
      metadataKey: 'note',
      metadataValue: hostile,
      metadataValueType: 'string',
    });
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${UI}?q=planetary-gear`);
  await page.locator(HITS).first().click();
  const rows = part(page, 'Metadata').locator('dd');
  await rows.last().waitFor();
  const shown = await rows.allInnerTexts();
  assert.ok(
    shown.some((each) => /^\d\d\.\d\d\.\d{4}$/.test(each)),
    `a day as it is written there: ${shown}`,
  );
  assert.ok(shown.includes(hostile));
  assert.equal(await part(page, 'Metadata').locator('a, img').count(), 0);
  await accessible(page, 'metadata');
});
