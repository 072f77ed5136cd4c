// Changing an asset in place, also while another user changes it.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { endpoint, file, newAsset as upload } from './walk.mjs';

/** Creates an asset, and returns its address. */
async function newAsset(page, name) {
  await upload(page, [file('a.txt')], name, 'as it was');
  return page.url();
}

const form = (page) => page.getByRole('form', { name: 'Edit the asset' });
const name = (page) => form(page).getByLabel('Name of the asset');
const save = (page) => form(page).getByRole('button', { name: 'Save' }).click();

async function edit(page) {
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await name(page).waitFor();
}

test('their value is taken by a press, tags are added and removed, and leaving asks', async ({
  page,
}) => {
  const first = `taken ${Date.now()}`;
  const url = await newAsset(page, first);
  await edit(page);
  await name(page).fill('mine');
  const written = await fetch(url.replace('/ui/databases/', '/database/').replace(/\?.*$/, ''), {
    method: 'PUT',
    headers: { authorization: endpoint.adminApiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ assetName: `${first} of a program` }),
  });
  assert.equal(written.status, 200);
  await save(page);
  await page.getByRole('button', { name: 'Use theirs' }).click();
  assert.equal(await name(page).inputValue(), `${first} of a program`);
  const offered = await form(page).locator('datalist option').first().textContent();
  await form(page).getByLabel('Add a tag', { exact: true }).fill(offered);
  await page.keyboard.press('Enter');
  const tag = (await form(page).locator('.chip').first().textContent()).replace(/ ×$/, '');
  let dialogs = 0;
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => {
    dialogs += 1;
    void dialog.dismiss();
  });
  await page.getByRole('link', { name: /Vitrine/ }).click();
  await page.waitForTimeout(500);
  assert.equal(dialogs, 1, 'leaving with unsaved changes asks');
  await save(page);
  await page.locator('.asset .tags .tag', { hasText: tag }).waitFor();
  await page.locator('.asset h1', { hasText: 'of a program' }).waitFor();
  await edit(page);
  await page.getByRole('button', { name: `Remove the tag ${tag}` }).click();
  await save(page);
  await page.getByText('No tags').waitFor();
  const focused = await page.evaluate(() => document.activeElement?.textContent);
  assert.equal(focused, 'Edit', 'the focus returns to the button');
});
