// The metadata of many assets in one table: twenty at once, by two people, and by a file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { countActs } from './acts.mjs';
import { test } from './fixtures.mjs';
import {
  accessible,
  fits,
  NARROW_AND_DARK,
  newDatabaseOfParts,
  request,
  UI,
  vitrine,
  withKey,
} from './walk.mjs';

const NUMBER = 20;
const record = (key, value, type = 'string') => ({
  metadataKey: key,
  metadataValue: value,
  metadataValueType: type,
});
const path = (database, id) => `/database/${database}/assets/${id}/metadata`;

/** Creates assets with metadata in a database of their own, and shows them. */
async function createAssets(page) {
  const database = `table-${Date.now()}`;
  const word = `sheet${Date.now()}`;
  await newDatabaseOfParts(database);
  const ids = Array.from({ length: NUMBER }, (_, at) => `${word}-${String(at).padStart(2, '0')}`);
  await Promise.all(
    ids.map(async (assetId) => {
      const described = { databaseId: database, description: 'of a walk', tags: [] };
      const asset = { ...described, assetId, assetName: assetId, isDistributable: true };
      await request('POST', '/assets', asset);
      const metadata = [record('mass', '12', 'number'), record('note', '=1+1 "x",\n<b>')];
      await request('POST', path(database, assetId), { metadata });
    }),
  );
  vitrine('wait');
  await withKey(page);
  await page.goto(
    `${UI}?facets=${encodeURIComponent(JSON.stringify({ str_databaseid: [database] }))}`,
  );
  await page.locator('.total', { hasText: `${NUMBER} assets` }).waitFor();
  return { database, ids };
}

test('a value is edited on twenty assets, also by two people and by a file', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const { database, ids } = await createAssets(page);
  const acts = countActs(page);
  await page.locator('.hits li').first().hover();
  await acts.click('checkbox', /^Select /, page.locator('.hits li').first());
  await acts.click('button', /^Select all/);
  await acts.click('link', 'Edit metadata');
  const all = (key) => page.getByLabel(`${key} of all assets`, { exact: true });
  await all('mass').waitFor();
  await acts.click('textbox', 'mass of all assets');
  await page.keyboard.type('13.5');
  await page.getByText(`${NUMBER} values of ${NUMBER} assets to save`).waitFor();
  await acts.click('button', 'Save');
  await page.getByText(`${NUMBER} values of ${NUMBER} assets saved`).waitFor();
  acts.end('Edit a value of metadata on twenty assets');
  await accessible(page, 'the table of metadata');
  await fits(page);

  await request('PUT', path(database, ids[0]), {
    metadata: [record('mass', '99', 'number')],
  });
  await all('mass').fill('14');
  await page.getByText('What changes').click();
  await accessible(page, 'what changes');
  await fits(page);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = page.getByRole('region', { name: /^Someone else has changed/ });
  await conflict.getByText('99', { exact: true }).waitFor();
  await accessible(page, 'a conflict in the table');
  await fits(page);
  await conflict.getByRole('button', { name: /^Keep yours/ }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('1 value of 1 asset saved').waitFor();

  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  const csv = readFileSync(await (await saving).path(), 'utf8');
  assert.ok(csv.includes(`"'=1+1 ""x"",\n<b>"`), 'a formula stays a text');
  const choose = (text) =>
    page
      .locator('.sheet input[type=file]')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await choose(csv);
  await page.getByText('The file changes nothing').waitFor();
  await choose(csv.replaceAll(',14,', ',heavy,'));
  await page.getByText('Line 2, column mass').waitFor();
  await accessible(page, 'a wrong file');
  await fits(page);
  await choose(csv.replaceAll(',14,', ',15,'));
  await page.getByText(`${NUMBER} values changed by the file`).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText(`${NUMBER} values of ${NUMBER} assets saved`).waitFor();
  const { metadata } = await request('GET', path(database, ids[NUMBER - 1]));
  const stored = Object.fromEntries(metadata.map((row) => [row.metadataKey, row.metadataValue]));
  assert.deepEqual([stored.mass, stored.note], ['15', '=1+1 "x",\n<b>']);
});
