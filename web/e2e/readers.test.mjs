// What a user with few permissions sees, and what is left of a user who signs out.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, endpoint, file, HITS, newAsset, UI, vitrine, withKey } from './walk.mjs';

/** Creates a user with a role of the same name, and returns the user's key. */
function newUser(name, grant = () => undefined) {
  vitrine('roles', 'create', name, '--description', 'a walk');
  grant(name);
  vitrine('roles', 'give', name, name);
  return JSON.parse(vitrine('keys', 'create', name, 'walk', '--json')).apiKey;
}

/** Notes all that the server replies to the page. */
function repliesOf(page) {
  const replies = [];
  page.on('response', async (response) => {
    if (/json/.test(response.headers()['content-type'] ?? '')) {
      replies.push(await response.text().catch(() => ''));
    }
  });
  return replies;
}

const contents = (page) =>
  page.evaluate(
    () =>
      document.documentElement.outerHTML + JSON.stringify({ ...sessionStorage, ...localStorage }),
  );

test('a reader of one database sees nothing of the others, and is offered no changes', async ({
  open,
}) => {
  const stamp = Date.now();
  const [database, mine, hidden] = [`walled-${stamp}`, `mine ${stamp}`, `hidden ${stamp}`];
  vitrine('databases', 'create', database, '--description', 'of one reader');
  const owner = await open();
  const own = await newAsset(
    owner.page,
    [file('own.txt', 'of the reader')],
    mine,
    'mine',
    database,
  );
  const other = await newAsset(owner.page, [file('hidden.txt')], hidden, 'not mine', 'library');
  vitrine('wait');
  const key = newUser(`reader-${stamp}`, (role) => {
    const only = ['--role', role, '--database', database];
    vitrine('access', 'template', 'apply', 'database-readonly', ...only);
  });

  const { page } = await open();
  const replies = repliesOf(page);
  await withKey(page, key);
  await page.goto(UI);
  await page.locator(HITS, { hasText: mine }).waitFor();
  assert.equal(await page.locator('.total').innerText(), '1 asset');
  const values = await page.locator('.facets .value bdi').allTextContents();
  assert.ok(values.includes(database) && !values.includes('library'), `${values}`);
  await page.locator(HITS).focus();
  await page.keyboard.press('x');
  const acts = page.locator('.selection').getByRole('button');
  await page.getByRole('button', { name: 'Download', exact: true }).waitFor();
  const offered = ['Select all', 'Download', 'Clear selection'];
  assert.deepEqual(await acts.allTextContents(), offered, 'no changes and no runs');
  assert.equal(await page.getByRole('link', { name: 'Upload', exact: true }).count(), 0);
  await accessible(page, 'the grid of a reader');
  await page.getByRole('combobox').first().fill('hidden');
  await page.getByText('Nothing matches this search.').waitFor();
  await page.goto(`${UI}databases/library/assets/${other.id}`);
  await page.getByText('This asset does not exist, or you may not see it.').waitFor();
  await page.goto(`${UI}databases/library`);
  await page.getByText('This database does not exist, or you may not see it.').waitFor();
  await page.goto(`${UI}databases`);
  await page.getByRole('link', { name: database }).click();
  await page.locator('.pictures', { hasText: mine }).waitFor();
  assert.equal(await page.getByRole('button', { name: /Edit/ }).count(), 0);
  assert.equal(await page.getByRole('link', { name: /Upload/ }).count(), 0);
  await page.goto(`${UI}databases/${database}/assets/${own.id}`);
  await page.getByText('of the reader').waitFor();
  const changes = page
    .getByLabel(/^Change /)
    .or(page.getByRole('button', { name: /Edit|Restore/ }));
  assert.equal(await changes.or(page.getByRole('link', { name: /Upload/ })).count(), 0);
  assert.equal(await page.locator('.asset .failure').count(), 0, 'what is not allowed is left out');
  await page.goto(`${UI}upload`);
  await page.getByText('You may not upload files.').waitFor();
  assert.equal(await page.locator('form.target').count(), 0);
  for (const word of [hidden, 'lighthouse']) {
    assert.ok(!(await contents(page)).includes(word), `${word} on the page`);
    assert.ok(!replies.join('').includes(word), `${word} in a reply`);
  }
});

test('another user who signs in again over a page sees nothing of it', async ({ page }) => {
  const key = newUser(`other-${Date.now()}`);
  await withKey(page);
  await page.goto(`${UI}?q=lamp`);
  await page.locator(HITS, { hasText: /^lamp$/ }).click();
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  await page.getByLabel('Name of the asset').fill('draft of the first');
  const secrets = ['draft of the first', await page.locator('.tree .file').first().textContent()];
  await page.route('**/database/library/assets/*', (route) =>
    route.request().method() === 'PUT'
      ? route.fulfill({ status: 403, json: { message: 'Forbidden' } })
      : route.continue(),
  );
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Your sign-in has ended').waitFor();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('API key', { exact: true }).fill(key);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const left = await contents(page);
  for (const secret of secrets) assert.ok(!left.includes(secret), secret);
  assert.equal(await page.title(), 'Vitrine');
  await page.getByRole('alert').getByText('You do not have permission').waitFor();
});

test('after a change of user nothing of the first one is left in the tab', async ({ page }) => {
  const key = newUser(`stranger-${Date.now()}`);
  await page.goto(UI);
  const box = page.getByLabel('API key', { exact: true });
  await box.fill(endpoint.adminApiKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator(HITS).first().click();
  await page.locator('.asset .tree .file').first().waitFor();
  const secret = await page.locator('.asset h1').textContent();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await box.waitFor();
  assert.equal(await page.title(), 'Vitrine');
  const replies = repliesOf(page);
  await page.goto(UI);
  await box.fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Account' }).waitFor();
  await page.waitForTimeout(2000);
  await page.getByText('There are no assets that you may see.').waitFor();
  const left = await contents(page);
  assert.ok(!left.includes(secret) && !replies.join('').includes(secret), 'a name of the first');
  assert.ok(!left.includes(endpoint.adminApiKey), 'the key of the first');
  assert.equal(await page.locator(HITS).count(), 0);
  await accessible(page, 'a stranger');
});
