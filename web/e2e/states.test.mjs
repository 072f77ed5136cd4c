// What the page shows of states that are rare or large: replies are real ones, changed on the way.
import assert from 'node:assert/strict';
import { glb as texturedByKtx2 } from './ktx2.mjs';
import { test } from './fixtures.mjs';
import { accessible, file, filled, HITS, newAsset, UI, withKey } from './walk.mjs';

/** Changes the replies of a route before the page gets them. */
async function changed(page, pattern, change) {
  await page.route(pattern, async (route) => {
    if (route.request().method() === 'OPTIONS') return route.continue();
    const response = await route.fetch();
    const body = await response.json();
    await route.fulfill({ response, json: change(body, route.request()) ?? body });
  });
}

test('ten thousand hits are scrolled to the last one, and the keyboard reaches both ends', async ({
  page,
}) => {
  await withKey(page);
  await changed(page, '**/search', (body, request) => {
    const { from = 0 } = request.postDataJSON();
    const [first] = body.hits?.hits ?? [];
    if (!first && !from) return undefined;
    const sample = first ?? changed.sample;
    changed.sample ??= sample;
    body.hits.total = { value: 10_000, relation: 'eq' };
    body.assetsFound = 10_000;
    body.hits.hits = Array.from({ length: 100 }, (_, at) => ({
      ...sample,
      _id: `library:hit-${from + at}`,
      _source: { ...sample._source, str_assetname: `hit ${from + at}` },
    }));
    return body;
  });
  await page.goto(UI);
  await page.locator(HITS).first().focus();
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement?.textContent === 'hit 9999');
  await page.keyboard.press('Home');
  await page.waitForFunction(() => document.activeElement?.textContent === 'hit 0');
  assert.ok((await page.locator('.hits li').count()) < 200, 'only the hits in view are elements');
});

test('each reason why a file is not shown is said in words on the page of its asset', async ({
  page,
}) => {
  await withKey(page);
  let message = '';
  await page.route('**/files/glb?**', (route) =>
    route.fulfill({ json: { glb: null, glbMissing: { reason: 'none', message: message } } }),
  );
  await page.goto(`${UI}?q=house`);
  const asset = await page.locator(HITS, { hasText: /^house$/ }).getAttribute('href');
  for (const reason of ['still being inspected', 'refused by its reader', 'quarantined']) {
    message = `<b>The file is ${reason}.</b>`;
    await page.goto(new URL(asset.replace(/\?.*/, '?file=/house.obj'), UI).href);
    await page.locator('.stage').getByText(message).waitFor();
  }
  await accessible(page, 'a file that is not shown');
  await page.route('**/download', (route) =>
    route.fulfill({
      status: 403,
      json: { code: 'Quarantined', message: '<i>It is quarantined</i>' },
    }),
  );
  await page.locator('.tree .file', { hasText: 'plan.png' }).click();
  await page.locator('.stage').getByText('<i>It is quarantined</i>').waitFor();
});

test('facets count the assets of the grid, and a heading is there at once', async ({ page }) => {
  await withKey(page);
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  const more = page.getByRole('button', { name: /^\d+ more$/ });
  while (await more.count()) await more.first().click();
  for (const name of ['library', '.obj', 'furniture', 'OBJ']) {
    const value = page.locator('.value', { has: page.getByText(name, { exact: true }) });
    await value.locator('input').check();
    await page.waitForURL(/facets=/);
    // Both are read at once: other walks upload meanwhile.
    await page.waitForFunction((wanted) => {
      const values = [...document.querySelectorAll('.value:has(input:checked)')];
      const counted = values.find((item) => item.querySelector('bdi').textContent === wanted);
      const total = document.querySelector('.total').textContent;
      return total.startsWith(`${counted.querySelector('.count').textContent} asset`);
    }, name);
    await value.locator('input').uncheck();
  }
  assert.ok(
    (await page.locator('.bars').count()) === 4,
    'triangles, sizes and both kinds of dates',
  );
  // The name is known from the grid: the heading has it while the asset is still loaded.
  await page.route('**/database/**', () => undefined);
  const first = page.locator(HITS).first();
  const name = await first.textContent();
  await first.click();
  await page.locator('.asset h1').waitFor();
  assert.equal(await page.locator('.asset h1').textContent(), name);
  await page.getByRole('region', { name: 'Files' }).getByText('Loading…').waitFor();
  assert.equal(await page.locator('.stage .no-picture').count(), 0, 'it is not known yet');
  await page.unrouteAll();
});

test('previews that are SVG with scripts run nothing, in the grid and beside their file', async ({
  page,
}) => {
  const script =
    '<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99" onload="alert(1)">' +
    '<script>alert(1)</script><image href="http://192.0.2.1/spy.png"/><rect width="99" height="99"/></svg>';
  const files = [
    file('page.html', '<script>alert(1)</script>'),
    file('page.html.previewFile.svg', script),
  ];
  const name = `svg ${Date.now()}`;
  await newAsset(page, files, name);
  await page.locator('.stage .text', { hasText: 'alert(1)' }).waitFor();
  // In this tab, whose searches wait for the index.
  await page.getByRole('combobox').first().fill(name);
  await page.keyboard.press('Enter');
  await page.locator(HITS, { hasText: name }).waitFor();
  await page.waitForTimeout(1500);
});

test('a model with textures in KTX2, which the page cannot decode, is shown from its converted model', async ({
  page,
}) => {
  await newAsset(page, [file('ktx2.glb', texturedByKtx2())], `ktx2 ${Date.now()}`);
  await page.locator('.model[data-state=shown]').waitFor();
  await page.getByText('Shown from the converted model').waitFor();
});

test('a model with Draco compression is decoded by the page itself', async ({ page }) => {
  const decoder = page.waitForResponse((response) => /draco_decoder\.wasm/.test(response.url()));
  await newAsset(page, [file('draco.glb', Buffer.from(DRACO, 'base64'))], `draco ${Date.now()}`);
  assert.equal((await decoder).status(), 200);
  await page.locator('.model[data-state=shown]').waitFor();
  assert.ok((await filled(page)) > 0.01, 'over 1 % of the canvas is drawn');
});

/** A cube, as the tests of the readers compress it. */
const DRACO =
  'Z2xURgIAAACQAgAAJAIAAEpTT057ImFzc2V0Ijp7InZlcnNpb24iOiIyLjAiLCJnZW5lcmF0b3IiOiJ0ZXN0cyJ9' +
  'LCJzY2VuZSI6MCwic2NlbmVzIjpbeyJub2RlcyI6WzBdfV0sIm5vZGVzIjpbeyJtZXNoIjowfV0sIm1lc2hlcyI6' +
  'W3sicHJpbWl0aXZlcyI6W3siYXR0cmlidXRlcyI6eyJQT1NJVElPTiI6MH0sImluZGljZXMiOjEsImV4dGVuc2lv' +
  'bnMiOnsiS0hSX2RyYWNvX21lc2hfY29tcHJlc3Npb24iOnsiYnVmZmVyVmlldyI6MCwiYXR0cmlidXRlcyI6eyJQ' +
  'T1NJVElPTiI6MH19fX1dfV0sImFjY2Vzc29ycyI6W3siY29tcG9uZW50VHlwZSI6NTEyNiwiY291bnQiOjgsInR5' +
  'cGUiOiJWRUMzIn0seyJjb21wb25lbnRUeXBlIjo1MTI1LCJjb3VudCI6MzYsInR5cGUiOiJTQ0FMQVIifV0sImJ1' +
  'ZmZlclZpZXdzIjpbeyJidWZmZXIiOjAsImJ5dGVMZW5ndGgiOjgwfV0sImJ1ZmZlcnMiOlt7ImJ5dGVMZW5ndGgi' +
  'OjgwfV0sImV4dGVuc2lvbnNSZXF1aXJlZCI6WyJLSFJfZHJhY29fbWVzaF9jb21wcmVzc2lvbiJdLCJleHRlbnNp' +
  'b25zVXNlZCI6WyJLSFJfZHJhY29fbWVzaF9jb21wcmVzc2lvbiJdfVAAAABCSU4ARFJBQ08CAgEBAAAACAwACwAA' +
  'A19LFQEBEAH/AAABAAkDAAACAAEBAAMDASABIAMAsEIxIgiMAgAAAAD/PwAAAAAAAAAAAAAAAAAAAACAPw4=';
