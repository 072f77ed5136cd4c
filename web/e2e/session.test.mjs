// A sign-in that lasts in this browser, of one user, which no script can read.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from '@playwright/test';
import { launchOptions } from './browser.mjs';
import { test } from './fixtures.mjs';
import { accessible, beginSession, COOKIE, endpoint, HITS, UI, vitrine, withKey } from './walk.mjs';

const newKey = (user, name) => JSON.parse(vitrine('keys', 'create', user, name, '--json'));

function newReader(name) {
  vitrine('roles', 'create', name, '--description', 'a walk');
  vitrine(
    'access',
    'template',
    'apply',
    'database-readonly',
    '--role',
    name,
    '--database',
    'library',
  );
  vitrine('roles', 'give', name, name);
  return newKey(name, name);
}

async function typeKey(page, key) {
  await page.getByLabel('API key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function user(page) {
  await page.getByRole('button', { name: 'Account' }).click();
  const text = await page.getByText('Signed in as').innerText();
  await page.keyboard.press('Escape');
  return text.replace('Signed in as ', '').trim();
}

const signOut = async (page) => {
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
};

/** All that scripts of the page can read. */
const readable = (page) =>
  page.evaluate(() =>
    JSON.stringify([
      { ...sessionStorage },
      { ...localStorage },
      document.cookie,
      location.href,
      Object.keys(globalThis).map((name) => String(globalThis[name])),
    ]),
  );

test('new tabs, a reload and another browser window of the same profile are signed in', async () => {
  const profile = mkdtempSync(join(process.env.VITRINE_SCRATCH, 'profile-'));
  const start = async () =>
    chromium.launchPersistentContext(profile, { ...(await launchOptions()), locale: 'en-US' });
  let context = await start();
  try {
    const page = await context.newPage();
    await page.goto(`${UI}?q=lighthouse`);
    await page.getByText('Vitrine keeps, finds and shows 3D models').waitFor();
    await page.getByText('A link also signs you in').waitFor();
    await accessible(page, 'the sign-in on this computer');
    await typeKey(page, endpoint.adminApiKey);
    await page.locator(HITS).first().waitFor();
    const cookies = await context.cookies();
    const { value, ...cookie } = cookies.find(({ name }) => name === COOKIE);
    assert.ok(cookie.httpOnly && cookie.secure && cookie.sameSite === 'Strict');
    assert.ok(!(await readable(page)).includes('vams_'));
    assert.ok(!(await readable(page)).includes(value));

    const opening = context.waitForEvent('page');
    await page
      .locator(HITS)
      .first()
      .click({ modifiers: ['ControlOrMeta'] });
    const tab = await opening;
    await tab.bringToFront(); // a browser draws nothing of a tab behind another one
    await tab.locator('.asset h1').waitFor();
    await tab.reload();
    await tab.locator('.asset h1').waitFor();
    await context.close();
    context = await start();
    const later = await context.newPage();
    await later.goto(tab.url());
    await later.locator('.asset h1').waitFor();
  } finally {
    await context.close();
  }
});

test('two tabs of a browser have one user, and signing out of one ends both', async ({
  context,
  page,
}) => {
  const name = `second-${Date.now()}`;
  const { apiKey } = newReader(name);
  await withKey(page);
  await page.goto(`${UI}upload`);
  await page.getByLabel('Name of the asset').fill('typed by the first');
  const tab = await context.newPage();
  await tab.goto(UI);
  await tab.locator(HITS).first().waitFor();
  await signOut(tab);
  await page.getByLabel('API key', { exact: true }).waitFor();
  await typeKey(tab, apiKey);
  await tab.locator(HITS).first().waitFor();
  // The first tab is that of the second user, and shows nothing of the first.
  await page.getByRole('button', { name: 'Account' }).waitFor();
  assert.equal(await user(page), name);
  assert.ok(!(await page.content()).includes('typed by the first'));
  assert.equal(await page.getByRole('link', { name: 'Upload', exact: true }).count(), 0);
});

test('nothing is written as another user who signed in where this tab did not notice', async ({
  context,
  page,
}) => {
  await withKey(page);
  await page.goto(`${UI}databases/library`);
  await page.getByRole('button', { name: 'Edit the description' }).click();
  const field = page.getByLabel('Description', { exact: true });
  const before = vitrine('databases', 'list', '--json');
  await field.fill('of the first');
  const { cookie } = await beginSession(newReader(`silent-${Date.now()}`).apiKey);
  await context.addCookies([cookie]);
  const refused = page.waitForResponse((response) => response.request().method() === 'PUT');
  await page.getByRole('button', { name: 'Save' }).click();
  assert.equal((await refused).status(), 401);
  await page.getByRole('dialog', { name: 'Your sign-in has ended' }).waitFor();
  assert.equal(vitrine('databases', 'list', '--json'), before);
});

test('who loses the rights, or the key, loses the page', async ({ page }) => {
  const name = `leaver-${Date.now()}`;
  const key = newReader(name);
  await withKey(page, key.apiKey);
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  vitrine('roles', 'take', name, '--yes');
  await page.waitForTimeout(6_000); // the authorizer and the rules are cached for five seconds
  await page.reload();
  await page
    .getByText('There are no assets that you may see.')
    .or(page.getByRole('alert'))
    .first()
    .waitFor();
  assert.equal(await page.locator(HITS).count(), 0);
  vitrine('keys', 'delete', key.apiKeyId, '--yes');
  await page.waitForTimeout(6_000);
  await page.reload();
  await page.getByRole('dialog', { name: 'Your sign-in has ended' }).waitFor();
  await accessible(page, 'a session that has ended');
});

/** A page of another origin; what it serves is sent as HTML. */
async function serve(html, headers = {}) {
  const server = createServer((request, response) => {
    server.cookies.push(request.headers.cookie ?? '');
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(html);
  });
  server.cookies = [];
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

test.describe('beside other servers', () => {
  test.use({ watchesOrigins: false });

  test('another server on this machine changes nothing of the sign-in', async ({ page }) => {
    await withKey(page);
    await page.goto(UI);
    const name = await user(page);
    const { cookie } = await beginSession(newReader(`neighbour-${Date.now()}`).apiKey);
    const attributes = 'Path=/; HttpOnly; SameSite=Strict';
    const other = await serve('<h1>other</h1>', {
      'set-cookie': [
        `__Host-vitrine-1=${cookie.value}; Secure; ${attributes}`,
        `vitrine-${new URL(endpoint.api).port}=${cookie.value}; ${attributes}`,
      ],
    });
    await page.goto(`http://127.0.0.1:${other.address().port}/`);
    await page.goto(UI);
    await page.locator(HITS).first().waitFor();
    assert.equal(await user(page), name);
    other.close();
  });

  test('a foreign site can open the page, and cannot post to it, frame it or use it', async ({
    page,
  }) => {
    await withKey(page);
    await page.goto(UI);
    await page.locator(HITS).first().waitFor();
    const databases = vitrine('databases', 'list', '--json');
    const { api } = endpoint;
    const site = await serve(`
      <a href="${UI}">open</a><iframe src="${UI}"></iframe>
      <form method="post" action="${api}/auth/session"><button>session</button></form>
      <form method="post" enctype="text/plain" action="${api}/database">
        <input name='{"databaseId":"forged","description":"of a form","x":"' value='"}'>
        <button>database</button>
      </form>`);
    // Another site than 127.0.0.1.
    const address = `http://localhost:${site.address().port}/`;
    for (const name of ['session', 'database']) {
      await page.goto(address);
      const reply = page.waitForResponse((response) => response.request().method() === 'POST');
      await page.getByRole('button', { name }).click();
      assert.ok([401, 403].includes((await reply).status()), name);
    }
    await page.goto(address);
    const frame = page.frames().find((item) => item !== page.mainFrame());
    assert.equal(await frame.locator('.bar').count(), 0, 'the page is in no frame');
    const status = await page.evaluate(
      (url) =>
        fetch(`${url}/database`, { credentials: 'include', headers: { 'x-vitrine-session': 'x' } })
          .then((response) => response.status)
          .catch(() => 'refused'),
      api,
    );
    assert.equal(status, 'refused');
    assert.ok(site.cookies.every((text) => !text.includes('vitrine')));
    assert.equal(vitrine('databases', 'list', '--json'), databases);
    await page.getByRole('link', { name: 'open' }).click();
    await page.locator(HITS).first().waitFor();
    site.close();
  });
});
