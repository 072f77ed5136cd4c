// Changing an asset in place, also while another user changes it.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, withKey } from './walk.mjs';

/** Creates an asset, and returns its address. */
async function newAsset(page, name) {
  await upload(page, [file('a.txt')], name, 'as it was');
  return page.url();
}

const form = (page) => page.getByRole('form', { name: 'Edit the asset' });
const name = (page) => form(page).getByLabel('Name of the asset');
const description = (page) => form(page).getByLabel('Description');
const save = (page) => form(page).getByRole('button', { name: 'Save' }).click();

async function edit(page) {
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await name(page).waitFor();
}

for (const colorScheme of ['light', 'dark']) {
  test(`of two people who edit one asset, neither loses what was typed (${colorScheme})`, async ({
    open,
  }) => {
    const [one, other] = [await open({ colorScheme }), await open()];
    const first = `edited ${Date.now()}`;
    const url = await newAsset(one.page, first);
    await withKey(other.page);
    await other.page.goto(url);
    await other.page.locator('.asset h1', { hasText: first }).waitFor();
    await edit(one.page);
    await accessible(one.page, 'editing an asset');
    await edit(other.page);
    await name(other.page).fill(`${first} by the other`);
    await description(other.page).fill('written by <b>the other</b>');
    await save(other.page);
    await other.page.locator('.asset h1', { hasText: 'by the other' }).waitFor();

    // A name with such signs is refused, in the server's words, and nothing typed is lost.
    await name(one.page).fill(`${first} <b>by one</b>`);
    await save(one.page);
    await form(one.page).getByText('must not contain').waitFor();
    assert.equal(await name(one.page).inputValue(), `${first} <b>by one</b>`);
    await name(one.page).fill(`${first} by one`);
    await save(one.page);
    await form(one.page)
      .getByText(/Somebody else changed this asset.*save again/)
      .waitFor();
    assert.equal(await name(one.page).inputValue(), `${first} by one`);
    assert.equal(await description(one.page).inputValue(), 'written by <b>the other</b>');
    await one.page.locator('.theirs', { hasText: `${first} by the other` }).waitFor();
    assert.equal(await one.page.locator('.theirs').count(), 1, 'only what both changed');
    await accessible(one.page, 'a conflict');
    await save(one.page);
    await one.page.locator('.asset h1', { hasText: `${first} by one` }).waitFor();
    await one.page.getByText('written by <b>the other</b>').waitFor();
  });
}

test('their value is taken by a press, tags are added and removed, and leaving asks', async ({
  page,
}) => {
  const first = `taken ${Date.now()}`;
  const url = await newAsset(page, first);
  await edit(page);
  await name(page).fill('mine');
  const written = await page.request.put(
    url.replace('/ui/databases/', '/database/').replace(/\?.*$/, ''),
    {
      headers: {
        authorization: await page.evaluate(
          () => JSON.parse(sessionStorage.getItem('vitrine.credential')).token,
        ),
      },
      data: { assetName: `${first} of a program` },
    },
  );
  assert.equal(written.status(), 200);
  await save(page);
  await page.getByRole('button', { name: 'Use theirs' }).click();
  assert.equal(await name(page).inputValue(), `${first} of a program`);
  await form(page).getByLabel('Tags', { exact: true }).selectOption({ index: 1 });
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

test('without a connection, or if the asset is deleted, what was typed remains and a sentence explains why', async ({
  context,
  page,
}) => {
  await newAsset(page, `lost ${Date.now()}`);
  await page.route('**/tags*', () => undefined);
  await edit(page);
  const tags = form(page).getByLabel('Tags', { exact: true });
  assert.equal(await tags.innerText(), 'Add a tag…', 'whether there are others is not known');
  await description(page).fill('typed before the connection was lost');
  await context.setOffline(true);
  await save(page);
  await form(page)
    .getByText(/did not respond/)
    .waitFor();
  await accessible(page, 'an edit without a connection');
  await context.setOffline(false);
  await page.route(/\/database\/[^/]+\/assets\/[^/?]+$/, (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({ status: 404, json: { code: 'NotFound', message: 'Asset was not found' } })
      : route.continue(),
  );
  await save(page);
  await form(page).getByText('Asset was not found').waitFor();
  assert.equal(await description(page).inputValue(), 'typed before the connection was lost');
  await page.unrouteAll();
  await save(page);
  await page.locator('.asset header', { hasText: 'typed before the connection' }).waitFor();
});
