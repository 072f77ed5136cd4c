// The page behind the distribution of a deployment, as the stack `web` declares it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { putBehind, readDistribution } from './edge.mjs';
import { test } from './fixtures.mjs';
import { endpoint, filled, HITS, newAsset, UI } from './walk.mjs';

const MOST_REQUESTS = 30;
const MOST_BYTES = 250_000;

let distribution;
test.beforeAll(() => {
  distribution = readDistribution(join(process.env.VITRINE_SCRATCH, 'edge'));
});

test('the page finds, shows and uploads behind CloudFront', async ({ page }) => {
  const passed = await putBehind(page, distribution);
  await page.goto(UI);
  await page.getByLabel('API key', { exact: true }).fill(endpoint.adminApiKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator(HITS).first().waitFor();
  Object.assign(passed, { requests: 0, bytes: 0, paths: [] });
  await page.reload();
  await page.locator(HITS).first().waitFor();
  await page.waitForLoadState('networkidle');
  const first = { requests: passed.requests, kB: Math.round(passed.bytes / 1000) };
  console.log(`first page: ${JSON.stringify(first)}`);
  assert.ok(passed.requests <= MOST_REQUESTS, `${passed.paths}`);
  assert.ok(passed.bytes <= MOST_BYTES, `${passed.bytes} bytes of ${passed.paths}`);

  await page.goto(`${UI}?q=lighthouse`);
  await page.locator(HITS).first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  assert.ok((await filled(page)) > 0.01, 'over 1 % of the canvas is drawn');
  await page.reload(); // an address that is no file
  await page.locator('.model[data-state=shown]').waitFor();

  const name = `edge ${Date.now()}`;
  const files = [{ name: 'note.v1.txt', mimeType: '', buffer: Buffer.from(name) }];
  await newAsset(page, files, name);
  await page.locator('.stage .text', { hasText: name }).waitFor();
});

test('addresses that are none of the page are those of the API', async ({ page }) => {
  await putBehind(page, distribution);
  await page.goto(UI);
  const statuses = await page.evaluate(
    (paths) => Promise.all(paths.map(async (path) => (await fetch(path)).status)),
    ['/api/version', '/version', '/database', '/ui/assets/none.js', '/nothing'],
  );
  assert.deepEqual(statuses, [200, 404, 401, 404, 404], endpoint.api);
});
