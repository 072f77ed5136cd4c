// Files whose names, folders or types the server refuses: marked before anything is sent.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, chooseFiles, endpoint, file, vitrine } from './walk.mjs';

for (const [width, colorScheme] of [
  [1280, 'light'],
  [360, 'dark'],
]) {
  test(`files with refused names are left out, and the others uploaded (${colorScheme}, ${width} px)`, async ({
    open,
  }) => {
    const viewport = { width, height: 860 };
    const { page } = await open({ viewport, colorScheme });
    const sent = [];
    page.on('request', (request) => {
      if (/\/uploads$/.test(request.url())) sent.push(...request.postDataJSON().files);
    });
    const files = [file('good.txt'), file('what?.txt'), file('Setup.exe'), file('last.')];
    const name = `names ${width} ${Date.now()}`;
    const start = await chooseFiles(page, files, name);
    const alert = page.locator('.upload section [role=alert]', { hasText: 'cannot be uploaded' });
    assert.match(await alert.innerText(), /^3 files cannot be uploaded, .* go on without them\.$/);
    const row = (words) => page.locator('.files li', { hasText: words });
    await row('what?.txt').getByText('its name must not contain ?').waitFor();
    await row('Setup.exe').getByText('files with the extension .exe are blocked').waitFor();
    await row('last.').getByText('must not end with a dot').waitFor();
    await accessible(page, 'files with refused names');
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    assert.equal(await start.innerText(), 'Upload 1 file');
    await start.focus();
    await page.keyboard.press('Enter');
    await page.getByText('The upload is complete.').waitFor();
    assert.deepEqual(
      sent.map((each) => each.relativeKey),
      ['/good.txt'],
    );
  });
}

test('a type that the database does not accept is marked when the database is chosen', async ({
  page,
}) => {
  const database = `models-${Date.now()}`;
  vitrine('databases', 'create', database, '--description', 'a walk');
  const changed = await fetch(`${endpoint.api}/database/${database}`, {
    method: 'PUT',
    headers: { authorization: endpoint.adminApiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ restrictFileUploadsToExtensions: '.glb,.obj' }),
  });
  assert.equal(changed.status, 200);
  const files = [file('a.txt'), file('b.txt')];
  await chooseFiles(page, files, 'models', 'a walk', 'library');
  assert.equal(await page.locator('.files .failure').count(), 0);
  await page.getByLabel('Database', { exact: true }).selectOption(database);
  const words = 'the database accepts only files of the types .glb and .obj';
  await page.getByText(words).first().waitFor();
  await page.getByRole('button', { name: 'Upload', exact: true }).click();
  await page.getByText('None of the chosen files can be uploaded').waitFor();
  await page.getByRole('button', { name: 'Do not upload a.txt' }).click();
  await page.getByText('1 file cannot be uploaded').waitFor();
});

test('of two files with one path neither replaces the other', async ({ page }) => {
  const names = ['\u00e9.txt', 'e\u0301.txt', 'other.txt'];
  const start = await chooseFiles(
    page,
    names.map((name) => file(name, name)),
    `twice ${Date.now()}`,
  );
  const refused = page.locator('.files li', { hasText: 'Another chosen file has the same path.' });
  assert.equal(await refused.count(), 2);
  await page.getByText('2 files cannot be uploaded').waitFor();
  assert.equal(await start.innerText(), 'Upload 1 file');
  await refused.last().getByRole('button').click();
  await refused.first().waitFor({ state: 'detached' });
  assert.equal(await start.innerText(), 'Upload 2 files');
  await start.click();
  await page.getByText('The upload is complete.').waitFor();
});
