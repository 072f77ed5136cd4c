// The shortest whole walk, in every run of continuous integration; the other walks have the rest.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { file, filled, HITS, newLink, quoted, UI, vitrine } from './walk.mjs';

test('a newcomer signs in, finds a sample, looks at it, uploads a file and finds it', async ({
  page,
}) => {
  await page.goto(newLink());
  await page.locator(HITS).first().waitFor();
  const search = page.locator('.search input');
  await search.fill('lighthouse');
  await page.waitForURL(/q=lighthouse/);
  await page.waitForFunction(() => document.querySelectorAll('.hits li a').length === 1);

  await page.locator(HITS).click();
  await page.locator('.model[data-state=shown]').waitFor();
  assert.ok((await filled(page)) > 0.01, 'over 1 % of the canvas is drawn');

  const name = `smoke ${Date.now()}`;
  await page.getByRole('link', { name: 'Upload', exact: true }).first().click();
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([file('note.txt', name)]);
  await page.getByLabel('Database', { exact: true }).selectOption('library');
  await page.getByLabel('Name of the asset').fill(name);
  await page.getByLabel('Description').fill('of a walk');
  await page.getByRole('button', { name: 'Upload 1 file', exact: true }).click();
  await page.getByText('The upload is complete.').waitFor();

  vitrine('wait'); // the page that is loaded next knows of no write
  await page.goto(`${UI}?q=${quoted(name)}`);
  await page.locator(HITS, { hasText: name }).click();
  await page.locator('.asset .tree .file', { hasText: 'note.txt' }).click();
  await page.locator('.stage .text', { hasText: name }).waitFor();
});
