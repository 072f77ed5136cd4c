// Signing in, again and out with a provider of OpenID Connect.
import assert from 'node:assert/strict';
import { ISSUER, startProvider } from './provider.mjs';
import { test } from './fixtures.mjs';
import { accessible, HITS, UI, vitrine } from './walk.mjs';

// Another one each time that a failed walk begins this file again.
const USER = `walker-${Date.now()}`;

let provider;
test.use({ allowedOrigins: [ISSUER] });
test.beforeAll(async () => {
  provider = await startProvider(USER);
  vitrine('roles', 'give', USER, 'admin');
});
test.afterAll(() => provider?.stop());

/** Opens the page without a signed-in user, and presses the button of the provider. */
async function press(page, path = '') {
  await page.goto(UI + path);
  await page.getByRole('button', { name: 'Sign in with your organisation' }).click();
}

/** What the page itself keeps in the tab; the router keeps places of scroll bars. */
const stored = () =>
  Object.keys({ ...sessionStorage, ...localStorage }).filter((key) => key.startsWith('vitrine.'));

test('a provider signs in to the address that was opened, and signing out ends its session', async ({
  page,
}) => {
  await page.goto(UI);
  await page.getByRole('button', { name: 'Sign in with your organisation' }).waitFor();
  await accessible(page, 'signing in with a provider');
  await press(page, '?q=lighthouse');
  await page.locator(HITS).first().waitFor();
  assert.equal(new URL(page.url()).search, '?q=lighthouse');
  await page.reload();
  await page.locator(HITS).first().waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByText(`Signed in as ${USER}`).waitFor();
  await accessible(page, 'the account menu');
  provider.requests.length = 0;
  await page.getByRole('button', { name: 'Sign out' }).click();
  // The page ends its own session first, then it leaves for the provider.
  const paths = () => provider.requests.map((item) => item.path);
  const ended = () => paths().includes('/logout');
  for (let at = 0; at < 100 && !ended(); at++) await page.waitForTimeout(100);
  assert.ok(ended(), `requests: ${paths()}`);
  await page.getByRole('button', { name: 'Sign in with your organisation' }).waitFor();
  assert.deepEqual(await page.evaluate(stored), []);
});

test('a session outlives the token with which it began', async ({ page }) => {
  provider.seconds = 1;
  await press(page);
  await page.locator(HITS).first().waitFor();
  await page.waitForTimeout(2000);
  await page.reload();
  await page.locator(HITS).first().waitFor();
  provider.seconds = 600;
});

test('an ended sign-in is renewed in a window of its own, and what was typed remains', async ({
  context,
  page,
}) => {
  await press(page, 'upload');
  await page.getByLabel('Name of the asset').fill('typed before');
  await page.route('**/search', (route) =>
    route.fulfill({ status: 403, json: { message: 'Forbidden' } }),
  );
  await page.getByLabel('An existing asset').check();
  await page.getByLabel('Database', { exact: true }).selectOption('library');
  const dialog = page.getByRole('dialog', { name: 'Your sign-in has ended' });
  await dialog.waitFor();
  await page.unroute('**/search');
  const windows = [];
  context.on('page', (item) => windows.push(item));
  await dialog.getByRole('button', { name: 'Sign in with your organisation' }).dblclick();
  await dialog.waitFor({ state: 'detached' });
  await page.getByLabel('A new asset').check();
  assert.equal(await page.getByLabel('Name of the asset').inputValue(), 'typed before');
  assert.equal(windows.length, 1);
});

test('a refusal, and a token for another sign-in, are said in words', async ({ page }) => {
  provider.refusal = 'Ann <b>may not</b>';
  await press(page);
  await page.getByText('The provider refused the sign-in: Ann <b>may not</b>').waitFor();
  await accessible(page, 'a refused sign-in');
  provider.refusal = '';
  provider.nonce = 'of-another';
  await press(page);
  await page.getByText('The reply belongs to another sign-in. Start again.').waitFor();
  provider.nonce = null;
  assert.deepEqual(await page.evaluate(stored), []);
});

test('a provider that is down is said in words, and signs in once it responds', async ({
  page,
}) => {
  await page.route(`${ISSUER}/**`, (route) => route.abort());
  await press(page);
  await page.getByText('The sign-in provider does not respond. Try again later.').waitFor();
  await accessible(page, 'a provider that is down');
  await page.unroute(`${ISSUER}/**`);
  const gateway = { status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' };
  const headers = { 'access-control-allow-origin': '*' };
  await page.route(`${ISSUER}/token`, (route) => route.fulfill({ ...gateway, headers }));
  await press(page);
  await page.getByText('The sign-in provider does not respond. Try again later.').waitFor();
  await page.unroute(`${ISSUER}/token`);
  // What the API declares of a provider that did not respond to the API.
  await page.route('**/amplify-config', async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    for (const name of ['Token', 'Authorization', 'Discovery']) {
      json[`externalOAuthIdp${name}Endpoint`] = 'undefined';
    }
    await route.fulfill({ response, json });
  });
  await press(page);
  await page.locator(HITS).first().waitFor();
});
