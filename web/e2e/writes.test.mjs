// What follows a write: a connection that is lost, and indexes that do not hold the write yet.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, HITS, newAsset, UI } from './walk.mjs';

test('an upload without a connection says so at once, and goes on by itself with it', async ({
  context,
  page,
}) => {
  const { database, id } = await newAsset(page, [file('a.txt')], `offline ${Date.now()}`);
  await page.goto(`${UI}upload?database=${database}&asset=${id}`);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([file('b.txt')]);
  const send = page.getByRole('button', { name: 'Upload 1 file' });
  await page.getByText('1 is new.').waitFor();
  await page.route('**/uploads', async (route) => {
    await context.setOffline(true);
    await route.abort('internetdisconnected');
  });
  await send.click();
  const words = page.getByRole('status').getByText('Offline: 0 B of');
  await words.waitFor({ timeout: 3_000 });
  await accessible(page, 'an upload without a connection');
  await page.unroute('**/uploads');
  await context.setOffline(false);
  await words.waitFor({ state: 'detached' });
  await page.getByText('The upload is complete.').waitFor();
});

test('a search after a reload says that the latest change is not found yet, also for a choice', async ({
  page,
}) => {
  const name = `reloaded ${Date.now()}`;
  await newAsset(page, [file('a.txt')], name);
  const sent = [];
  // As of an index that does not hold the change for a while.
  await page.route('**/search', async (route) => {
    const after = route.request().headers()['x-after'];
    sent.push(after);
    const response = await route.fetch();
    await route.fulfill({ response, status: after && sent.length < 3 ? 202 : response.status() });
  });
  await page.goto(`${UI}?q=${encodeURIComponent(name)}`);
  await page.getByText('Your latest change is not among these results yet.').waitFor();
  await page.locator(HITS, { hasText: name }).waitFor();
  await page.getByText('Your latest change').waitFor({ state: 'detached' });
  assert.ok(
    sent[0] && sent[0] === sent[1],
    'the token is sent after the reload, until it is found',
  );
  await page.unroute('**/search');
  assert.equal(await page.evaluate(() => sessionStorage.getItem('vitrine.write')), null);

  await newAsset(page, [file('a.txt')], `${name} again`);
  const search = page.waitForRequest(/\/search$/);
  await page.goto(`${UI}upload?database=library`);
  await page.getByLabel('An existing asset').check();
  assert.ok((await search).headers()['x-after'], 'a choice of an asset waits for it, too');
  await page.getByLabel('Find the asset by a part of its name').fill(`${name} again`);
  await page
    .getByLabel('Asset', { exact: true })
    .locator('option', { hasText: `${name} again` })
    .waitFor({ state: 'attached' });
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
});
