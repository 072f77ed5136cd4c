// Measures the page: sizes, time to pictures, searches, requests again, and scrolling.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { chromium } from '@playwright/test';
import { measureSheet } from './bench-sheet.mjs';
import { launchOptions } from './browser.mjs';
import { open, UI, withKey } from './walk.mjs';

const PICTURES = 100;
const ROWS = 10_000;
const TIMES = 5;
const DATABASE = 'bench';
const HITS = '.hits li a';
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const say = (name, figure, target) =>
  process.stdout.write(`${name.padEnd(52)} ${String(figure).padStart(10)}   ${target}\n`);

/** A picture of 512 pixels that compresses as a thumbnail does. */
function picture(seed) {
  const side = 512;
  const rows = Buffer.alloc(side * (1 + 3 * side));
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const at = y * (1 + 3 * side) + 1 + 3 * x;
      const inside = (x - 256) ** 2 + (y - 256) ** 2 < (120 + seed) ** 2;
      rows[at] = inside ? (x * seed) >> 3 : 245;
      rows[at + 1] = inside ? (y * 3 + seed) >> 2 : 246;
      rows[at + 2] = inside ? x ^ y : 249;
    }
  }
  const chunk = (kind, data) => {
    const body = Buffer.concat([Buffer.from(kind), data]);
    const out = Buffer.alloc(8);
    out.writeUInt32BE(data.length, 0);
    out.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([out.subarray(0, 4), body, out.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const parts = [
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), ...parts]);
}

/** Assets whose files have previews that were uploaded with them: nothing has to be inspected. */
function furnish() {
  const folder = join(process.env.VITRINE_SCRATCH, 'bench');
  rmSync(folder, { recursive: true, force: true });
  for (let at = 0; at < PICTURES; at += 1) {
    const asset = join(folder, `thing ${String(at).padStart(3, '0')}`);
    mkdirSync(asset, { recursive: true });
    writeFileSync(join(asset, 'note.txt'), `thing ${at}`);
    writeFileSync(join(asset, 'note.txt.previewFile.png'), picture(at));
  }
  const command = process.env.VITRINE_CLIENT;
  execFileSync(command, ['import', folder, '--database', DATABASE], { stdio: 'ignore' });
  execFileSync(command, ['wait'], { stdio: 'ignore' });
}

const chosen = `?facets=${encodeURIComponent(JSON.stringify({ str_databaseid: [DATABASE] }))}`;
// Nothing here needs WebGL; one in software would draw the page, too, with most of the processors.
const browser = await chromium.launch({ ...(await launchOptions()), args: ['--disable-gpu'] });

/** Opens the grid with an empty cache, and returns what it took. */
async function firstGrid() {
  const { context, page, seen } = await open(browser, { viewport: { width: 1280, height: 860 } });
  let scripts = 0;
  page.on('requestfinished', async (request) => {
    if (!/\.js(\?|$)/.test(request.url())) return;
    scripts += (await request.sizes()).responseBodySize;
  });
  await withKey(page);
  await page.goto(UI + chosen);
  await page.waitForFunction(() => {
    const shown = [...document.querySelectorAll('.hits img')];
    return shown.length > 5 && shown.every((item) => item.complete && item.naturalWidth);
  });
  const paint = await page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({
          type: 'largest-contentful-paint',
          buffered: true,
        });
      }),
  );
  const complete = await page.evaluate(() =>
    Math.max(
      ...performance
        .getEntriesByType('resource')
        .filter((item) => item.initiatorType === 'img')
        .map((item) => item.responseEnd),
    ),
  );
  return { context, page, seen, scripts, paint, complete };
}

/** Types the last letter of a name, and waits until its asset is painted as the first hit. */
async function furtherSearches(page) {
  const took = [];
  const box = page.locator('header input').first();
  for (const words of ['thing 011', 'thing 022', 'thing 033', 'thing 044', 'thing 055']) {
    await box.fill(words.slice(0, -1));
    await page.waitForTimeout(1500);
    const painted = page.evaluate(
      (wanted) =>
        new Promise((resolve) => {
          let started = 0;
          addEventListener('input', () => (started = performance.now()), { once: true });
          const look = () => {
            const first = document.querySelector('.hits li a');
            if (started && first?.textContent === wanted) {
              requestAnimationFrame(() => resolve(performance.now() - started));
            } else requestAnimationFrame(look);
          };
          look();
        }),
      words,
    );
    await box.press(words.slice(-1));
    took.push(await painted);
  }
  return median(took);
}

/** Counts the frames while a list of many rows is scrolled from its begin. */
async function scrolled(withContent) {
  const { context, page } = await open(browser, { viewport: { width: 1280, height: 860 } });
  await withKey(page);
  let real = null;
  await page.route('**/search', async (route) => {
    const { from = 0, size = 100 } = JSON.parse(route.request().postData() ?? '{}');
    const hits = Array.from({ length: Math.min(size, ROWS - from) }, (_, at) => {
      const number = from + at;
      const source = {
        str_databaseid: DATABASE,
        str_assetid: `asset-${number}`,
        str_assetname: withContent ? `Asset ${number}` : '-',
        str_description: withContent ? `The description of asset ${number}` : '',
        list_tags: withContent ? ['one', 'two'] : [],
      };
      return { _id: `a${number}`, _index: 'a', _index_type: 'asset', _score: 1, _source: source };
    });
    real ??= await (await route.fetch()).json();
    const total = { value: ROWS, relation: 'eq' };
    await route.fulfill({
      json: { ...real, assetsFound: ROWS, hits: { ...real.hits, total, hits } },
    });
  });
  await page.goto(`${UI}?view=list`);
  await page.locator(HITS).first().waitFor();
  const result = await page.evaluate(async () => {
    let frames = 0;
    let blank = 0;
    let longest = 0;
    const until = performance.now() + 4000;
    for (;;) {
      const now = await new Promise((resolve) => requestAnimationFrame(resolve));
      if (now > until) break;
      frames += 1;
      window.scrollBy(0, 240);
      const middle = document.elementFromPoint(640, 500)?.closest('li');
      if (middle?.textContent) blank = 0;
      else longest = Math.max(longest, now - (blank ||= now));
    }
    return { frames, longest };
  });
  await context.close();
  return result;
}

furnish();
const runs = [];
for (let at = 0; at < TIMES; at += 1) {
  const run = await firstGrid();
  runs.push(run);
  if (at < TIMES - 1) await run.context.close();
}
const last = runs.at(-1);
say('JavaScript of the first load, kB transferred', (last.scripts / 1000).toFixed(1), '≤ 150');
say('API requests to the first grid', last.seen.api, '3');
say(
  'largest contentful paint, median of 5, s',
  (median(runs.map((r) => r.paint)) / 1000).toFixed(2),
  '≤ 1.0',
);
say(
  'pictures in view complete, median of 5, s',
  (median(runs.map((r) => r.complete)) / 1000).toFixed(2),
  '≤ 1.0',
);
say(
  'a further search, key to painted hits, ms',
  Math.round(await furtherSearches(last.page)),
  '≤ 150',
);
await last.page.goto(UI + chosen);
await last.page.locator('.hits img').first().waitFor();
await last.page.waitForTimeout(1500);
const loads = await counted(last.page);
await last.page.reload();
await last.page.locator('.hits img').first().waitFor();
await last.page.waitForTimeout(2000);
say('pictures loaded again after a reload', loads.pictures, '0');
await last.context.close();
const [full, empty] = [await scrolled(true), await scrolled(false)];
say(
  'frames of 10,000 rows to those of an empty list',
  (full.frames / empty.frames).toFixed(2),
  '≥ 0.9',
);
say('longest blank row while scrolling, ms', Math.round(full.longest), '≤ 300');
const sheet = await measureSheet(browser);
say('frames of a table of 1,000 × 20 to an empty one', sheet.ratio.toFixed(2), '≥ 0.9');
say('requests that save this table', sheet.requests, '≤ 20');
await browser.close();

/** Counts the pictures that come over the network, not from the cache of the browser. */
async function counted(page) {
  const session = await page.context().newCDPSession(page);
  const loads = { pictures: 0 };
  const cached = new Set();
  await session.send('Network.enable');
  session.on('Network.requestServedFromCache', ({ requestId }) => cached.add(requestId));
  session.on('Network.responseReceived', ({ requestId, type, response }) => {
    if (type === 'Image' && /^http/.test(response.url) && !response.url.startsWith(UI)) {
      if (!response.fromDiskCache && !cached.has(requestId)) loads.pictures += 1;
    }
  });
  return loads;
}
