// Measures the table of metadata: scrolling, and the requests that save it. Replies are stand-ins.
import { open, UI, withKey } from './walk.mjs';

const ASSETS = 1_000;
const KEYS = Array.from({ length: 20 }, (_, at) => `key ${String(at).padStart(2, '0')}`);

/** Opens the table of many assets; without content, its cells are as many and empty. */
async function openTable(browser, hasContent) {
  const { context, page } = await open(browser, { viewport: { width: 1280, height: 860 } });
  await withKey(page);
  let real = null;
  const puts = [];
  await page.route('**/search', async (route) => {
    const { from = 0, size = 50 } = JSON.parse(route.request().postData() ?? '{}');
    const hits = Array.from({ length: Math.min(size, ASSETS - from) }, (_, at) => {
      const name = `asset-${from + at}`;
      const source = { str_databaseid: 'bench', str_assetid: name, str_assetname: name };
      return { _id: name, _index: 'a', _index_type: 'asset', _score: 1, _source: source };
    });
    real ??= await (await route.fetch()).json();
    const total = { value: ASSETS, relation: 'eq' };
    await route.fulfill({
      json: { ...real, assetsFound: ASSETS, hits: { ...real.hits, total, hits } },
    });
  });
  await page.route('**/assets/*/metadata*', async (route) => {
    const [, asset] = /assets\/([^/]+)/.exec(route.request().url());
    const metadata = KEYS.map((key, at) => ({
      metadataKey: key,
      metadataValue: hasContent ? `${asset}, value ${at}` : '',
      metadataValueType: 'string',
      metadataStored: true,
    }));
    await route.fulfill({ json: { metadata, restrictMetadataOutsideSchemas: false } });
  });
  await page.route('**/metadata/batch', async (route) => {
    const { entities } = JSON.parse(route.request().postData());
    puts.push(entities.length);
    const results = entities.map(() => ({ status: 200, message: 'done' }));
    await route.fulfill({ json: { success: true, results } });
  });
  await page.goto(`${UI}?view=list`);
  await page.getByLabel('Select asset-0', { exact: true }).check();
  // Pages of hits are loaded as they are scrolled to; a range selects those between.
  for (let last = 40; last < ASSETS; last += 40) {
    await page.evaluate((y) => window.scrollTo(0, y), last * 60);
    await page.getByLabel(`Select asset-${last}`, { exact: true }).waitFor();
  }
  const end = page.getByLabel(`Select asset-${ASSETS - 1}`, { exact: true });
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await end.click({ modifiers: ['Shift'] });
  await page.getByRole('link', { name: 'Edit metadata' }).click();
  await page.getByRole('grid').waitFor();
  return { context, page, puts };
}

/** Counts the frames while the table is scrolled from its begin. */
const countFrames = (page) =>
  page.evaluate(async () => {
    const grid = document.querySelector('.sheet .grid');
    let frames = 0;
    const until = performance.now() + 4000;
    while ((await new Promise((resolve) => requestAnimationFrame(resolve))) < until) {
      frames += 1;
      grid.scrollTop += 120;
      if (grid.scrollTop + grid.clientHeight >= grid.scrollHeight) grid.scrollTop = 0;
    }
    return frames;
  });

/** Returns the frames of a table to those of an empty one, and the requests that save it. */
export async function measureSheet(browser) {
  const full = await openTable(browser, true);
  const frames = await countFrames(full.page);
  for (const key of KEYS) await full.page.getByLabel(`${key} of all assets`).fill('new');
  await full.page.getByRole('button', { name: 'Save', exact: true }).click();
  await full.page.getByText('20,000 values of 1,000 assets saved').waitFor();
  await full.context.close();
  const empty = await openTable(browser, false);
  const ratio = frames / (await countFrames(empty.page));
  await empty.context.close();
  return { ratio, requests: full.puts.length };
}
