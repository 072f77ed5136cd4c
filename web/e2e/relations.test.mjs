// What an asset consists of, where it is used, what its files lack, and what is like them.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, CORNERS, file, fits, HITS, newAsset, triangle, UI, withKey } from './walk.mjs';

const part = (page, title) => page.getByRole('region', { name: title, exact: true });

test('an asset shows what uses it, its parts and similar shapes as pictures', async ({ page }) => {
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
    lacking.some((item) => item.includes(missing)),
    `${lacking}`,
  );
  assert.ok(
    lacking.some((item) => item.includes('outside the asset')),
    `${lacking}`,
  );
  await part(page, 'Files that it needs').getByRole('link', { name: 'a.bin' }).waitFor();
  await part(page, 'Files that it needs')
    .getByRole('link', { name: 'Upload the missing' })
    .waitFor();
  await fits(page);
  await accessible(page, 'a model that lacks files');
});
