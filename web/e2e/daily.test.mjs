// The shortest daily tasks, each with at most as many acts as the table in web/README.md says.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countActs } from './acts.mjs';
import { test } from './fixtures.mjs';
import { file, HITS, newAsset, newFolder, quoted, request } from './walk.mjs';
import { UI, vitrine, withKey } from './walk.mjs';

test('the newest gear is found, and what has over 100,000 triangles', async ({ page }) => {
  await withKey(page);
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  const acts = countActs(page);
  await acts.press('/');
  await page.keyboard.type('gear');
  await page.locator(HITS, { hasText: 'gear' }).first().waitFor();
  await acts.select('Sort by', 'newest');
  await page.waitForURL(/sort=newest/);
  await page.locator(HITS, { hasText: 'gear' }).first().waitFor();
  acts.end('Find the newest gear');

  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  await acts.click('spinbutton', 'Triangles: From');
  await page.keyboard.type('100000');
  await acts.press('Enter');
  await page.getByRole('button', { name: /^Remove filter: Triangles/ }).waitFor();
  acts.end('Find what has over 100,000 triangles');
});

test('an asset is renamed, and says why it has no picture', async ({ page }) => {
  const name = `broken ${Date.now()}`;
  await newAsset(page, [file('a.glb', 'no model')], name);
  const acts = countActs(page);
  await acts.click('button', 'Edit');
  await page.getByLabel('Name of the asset').fill(`${name} renamed`);
  await acts.press('Enter');
  await page.getByRole('heading', { name: `${name} renamed` }).waitFor();
  acts.end('Rename an asset');

  vitrine('wait');
  await page.goto(`${UI}?q=${quoted(`${name} renamed`)}`);
  await page.locator('.hits', { hasText: 'Could not be read' }).waitFor();
  await acts.click('link', `${name} renamed`);
  await page
    .locator('.stage .failed')
    .getByText(/^The file could not be read: /)
    .waitFor();
  acts.end('See why a file has no picture');
});

test('twenty assets get a tag', async ({ page }) => {
  const stamp = Date.now();
  const [database, tag] = [`tagged-${stamp}`, `tag-${stamp}`];
  vitrine('databases', 'create', database, '--description', 'of a walk');
  const type = { tagTypeName: `type-${stamp}`, description: 'of a walk' };
  await request('POST', '/tag-types', type);
  await request('POST', '/tags', { ...type, tagName: tag });
  const described = { databaseId: database, description: 'of a walk', tags: [] };
  const ids = Array.from({ length: 20 }, (_, at) => `tagged-${stamp}-${at}`);
  await Promise.all(
    ids.map((id) =>
      request('POST', '/assets', {
        ...described,
        assetId: id,
        assetName: id,
        isDistributable: true,
      }),
    ),
  );
  vitrine('wait');
  await withKey(page);
  const facets = encodeURIComponent(JSON.stringify({ str_databaseid: [database] }));
  await page.goto(`${UI}?facets=${facets}`);
  await page.locator('.total', { hasText: '20 assets' }).waitFor();
  const acts = countActs(page);
  await page.locator('.hits li').first().hover();
  await acts.click('checkbox', /^Select /, page.locator('.hits li').first());
  await acts.click('button', /^Select all/);
  await acts.click('button', 'Add a tag');
  await page.getByLabel('Tag', { exact: true }).fill(tag);
  await acts.click('button', 'Add a tag', page.getByRole('dialog'));
  await page.locator('.toast.shown', { hasText: tag }).waitFor();
  acts.end('Tag twenty assets');
  const stored = await request('GET', `/database/${database}/assets/${ids[19]}`);
  assert.deepEqual(stored.tags, [tag]);
});

test('a dropped folder is uploaded, and a file of it replaced by a drop on its folder', async ({
  page,
}) => {
  await withKey(page);
  await page.goto(`${UI}databases`);
  await page.getByRole('link', { name: 'Upload', exact: true }).waitFor();
  const acts = countActs(page);
  const folder = newFolder(`dropped ${Date.now()}`);
  await acts.drop([folder]);
  await page.locator('.files li').nth(1).waitFor();
  await acts.select('Database', 'library');
  await acts.click('textbox', 'Description');
  await page.keyboard.type('of a walk');
  await acts.click('button', 'Upload 2 files');
  await page.getByText('The upload is complete.').waitFor();
  acts.end('Upload a folder');

  await page.getByRole('link', { name: 'Open the asset' }).click();
  const plans = page.locator('.tree summary', { hasText: 'plans' }).first();
  await plans.waitFor();
  const replacement = join(folder, 'plans', 'b.txt');
  writeFileSync(replacement, 'second');
  await acts.drop([replacement], plans);
  await page.getByText('1 replaces the present version.').waitFor();
  await acts.click('button', 'Upload 1 file');
  await page.getByText('The upload is complete.').waitFor();
  acts.end('Replace a file in a folder');
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.tree .file', { hasText: 'b.txt' }).click();
  await page.locator('.stage .text', { hasText: 'second' }).waitFor();
});
