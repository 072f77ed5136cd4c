// A key that is deleted while someone works with it: a new sign-in, and nothing typed is lost.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, endpoint, NARROW_AND_DARK, UI, vitrine, withKey } from './walk.mjs';

const newKey = (user, name) => JSON.parse(vitrine('keys', 'create', user, name, '--json'));

/** Deletes a key, and waits until the gateway has forgotten it: it remembers one for seconds. */
async function deleteKey({ apiKeyId, apiKey }) {
  vitrine('keys', 'delete', apiKeyId, '--yes');
  for (;;) {
    const { status } = await fetch(`${endpoint.api}/auth/routes`, {
      method: 'POST',
      headers: { authorization: apiKey, 'content-type': 'application/json' },
      body: '{"routes":[]}',
    });
    if (status === 403) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

test('a deleted key asks for a new sign-in over a form', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const stamp = `${Date.now()}`;
  const database = `signed-${stamp}`;
  vitrine('databases', 'create', database, '--description', 'before');
  const user = `leaver-${stamp}`;
  vitrine('roles', 'create', user, '--description', 'a walk');
  const only = ['--role', user, '--database', database];
  vitrine('access', 'template', 'apply', 'database-admin', ...only);
  vitrine('roles', 'give', user, user);
  const first = newKey(user, `first-${stamp}`);
  await withKey(page, first.apiKey);
  await page.goto(`${UI}databases/${database}`);
  await page.getByRole('button', { name: 'Edit the description' }).click();
  const field = page.getByLabel('Description', { exact: true });
  await field.fill('typed with the first key');
  await deleteKey(first);
  // The authorizer may keep its reply for the session for five seconds.
  await page.waitForTimeout(5_000);
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your sign-in has ended' });
  await dialog.waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /Forbidden|Unauthorized/);
  await accessible(page, 'a sign-in over a form');
  await dialog.getByLabel('API key', { exact: true }).fill(newKey(user, `next-${stamp}`).apiKey);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await field.inputValue(), 'typed with the first key');
  await page.getByText('Your sign-in ended before this was done.').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The changes are saved.').waitFor();
});
