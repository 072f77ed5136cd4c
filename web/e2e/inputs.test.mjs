// Files that are unusual: very large ones, long names, previews that are no pictures; a busy server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from './fixtures.mjs';
import { endpoint, file, filled, fits, HITS, newAsset, UI, withKey } from './walk.mjs';

const storage = new URL(endpoint.s3).origin;
const PICTURE = readFileSync(join(process.env.PYTHONPATH, 'samples/library/house/plan.png'));

test('a GLB of 2 GB is loaded on request only', async ({ page }) => {
  await withKey(page);
  await page.route(`${storage}/**`, (route) =>
    /planetary-gear\.glb/.test(route.request().url())
      ? route.fulfill({
          headers: { 'content-length': String(2 ** 31), 'access-control-allow-origin': '*' },
        })
      : route.continue(),
  );
  await page.goto(`${UI}?q=planetary-gear`);
  await page.locator(HITS).first().click();
  await page.getByText('This model is 2.1 GB. Loading it may take a while.').waitFor();
  await page.getByRole('button', { name: 'Load it' }).waitFor();
  assert.equal(await page.locator('.model[data-state=shown]').count(), 0);
});

test('a preview that is no picture, and runs nothing, leaves the sign for none', async ({
  page,
}) => {
  const name = `no picture ${Date.now()}`;
  const markup = '<script>alert(1)</script><img src=x onerror=alert(1)>';
  await newAsset(page, [file('a.bin', 'x'), file('a.bin.previewFile.png', markup)], name);
  await page.locator('.stage .no-picture', { hasText: 'No picture' }).waitFor();
  await page.getByRole('combobox').first().fill(name);
  await page.keyboard.press('Enter');
  const card = page.locator('.card', { has: page.getByRole('link', { name }) });
  await card.locator('.no-picture', { hasText: 'No picture' }).waitFor();
});

test('images and videos that are none say so, and can be downloaded', async ({ page }) => {
  const files = ['a.png', 'b.mp4', 'c.webp'].map((name) => file(name, 'this is neither'));
  await newAsset(page, files, `neither ${Date.now()}`);
  for (const { name } of files) {
    await page.locator('.tree .file', { hasText: name }).click();
    await page.locator('.stage .failed', { hasText: 'This file cannot be shown here.' }).waitFor();
    await page.getByRole('button', { name: 'Download', exact: true }).waitFor();
  }
});

test('a model is drawn again after the browser has taken its graphics context', async ({
  page,
}) => {
  await withKey(page);
  await page.goto(`${UI}?q=lighthouse`);
  await page.locator(HITS).first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  await page.locator('.stage canvas').evaluate((canvas) => {
    globalThis.taken = canvas.getContext('webgl2').getExtension('WEBGL_lose_context');
    globalThis.taken.loseContext();
  });
  await page.getByText('The 3D view was interrupted and is being restored.').waitFor();
  await page.evaluate(() => globalThis.taken.restoreContext());
  await page.getByText('The 3D view was interrupted').waitFor({ state: 'detached' });
  assert.ok((await filled(page)) > 0.01, 'over 1 % of the canvas is drawn');
});

test('names of 255 bytes in letters of several bytes are kept, and fit their places', async ({
  open,
}) => {
  const { page } = await open({ viewport: { width: 360, height: 740 } });
  const names = [
    `${'é'.repeat(125)}x.txt`,
    `${'木'.repeat(83)}xx.txt`,
    `${'😀'.repeat(62)}xxx.txt`,
  ];
  assert.ok(names.every((name) => Buffer.byteLength(name) === 255));
  await newAsset(
    page,
    names.map((name) => file(name)),
    `bytes ${Date.now()}`,
  );
  const shown = await page.locator('.asset .tree .file bdi').allTextContents();
  assert.deepEqual(new Set(shown), new Set(names));
  await fits(page);
});

/** Waits for the picture that the walk serves: four times as high as wide. */
const isTall = (page, selector) =>
  page.waitForFunction((where) => {
    const { naturalWidth, naturalHeight } = document.querySelector(where) ?? {};
    return naturalHeight > 0 && naturalHeight === 4 * naturalWidth;
  }, selector);

test('the picture of a file that has no viewer is shown whole, in windows of any width', async ({
  open,
}) => {
  for (const width of [360, 1920]) {
    const { page } = await open({ viewport: { width, height: 900 } });
    await withKey(page);
    const tall = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="40"/>';
    await page.route(/preview(File)?\.\w+\?/, (route) =>
      route.request().resourceType() === 'image'
        ? route.fulfill({ contentType: 'image/svg+xml', body: tall })
        : route.continue(),
    );
    await page.goto(UI);
    const card = page.locator('.card .picture', { has: page.locator('img') }).first();
    await card.waitFor();
    await page.waitForFunction(() => document.querySelector('.card .picture img').complete);
    const [frame, portrait] = [await card.boundingBox(), await card.locator('img').boundingBox()];
    assert.ok(portrait.height <= frame.height + 1, `${portrait.height} of ${frame.height} px`);
    await isTall(page, '.card .picture img');
    const files = [file('plan.docx'), file('plan.docx.previewFile.png', PICTURE)];
    await newAsset(page, files, `with a picture ${width} ${Date.now()}`);
    await page.getByText('This is a picture of the file.').waitFor();
    const [stage, picture] = [page.locator('.stage'), page.locator('.poster img')];
    await isTall(page, '.poster img');
    const [place, shown] = [await stage.boundingBox(), await picture.boundingBox()];
    assert.ok(shown.height <= place.height + 1, `${shown.height} of ${place.height} px`);
    assert.ok(shown.width <= place.width + 1, `${shown.width} of ${place.width} px`);
  }
});

test('what is pressed or chosen is legible where the system replaces colours', async ({ open }) => {
  const { page } = await open({ colorScheme: 'dark', forcedColors: 'active' });
  await withKey(page);
  await page.goto(`${UI}?q=lamp`);
  await page.locator('.card .select').first().check();
  const contrasts = (places) =>
    page.locator(places).evaluateAll((all) =>
      all.map((element) => {
        const luminance = (color) => {
          const parts = color.match(/[\d.]+/g).map((part) => Number(part) / 255);
          const [r, g, b] = parts.map((part) => ((part + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = element.closest('.chosen, button, .file');
        const [text, background] = [element, ground].map((part, at) =>
          luminance(getComputedStyle(part)[at ? 'backgroundColor' : 'color']),
        );
        return (Math.max(text, background) + 0.05) / (Math.min(text, background) + 0.05);
      }),
    );
  for (const item of await contrasts('.chosen .name, .chosen .faint, [aria-pressed=true]'))
    assert.ok(item > 4.5, `${item}`);
  await page.locator(HITS).first().press('Enter');
  await page.locator('.model[data-state=shown]').waitFor();
  await page.getByRole('button', { name: 'Wireframe' }).click();
  for (const item of await contrasts(
    '[aria-pressed=true], .file[aria-current], .file[aria-current] .faint',
  ))
    assert.ok(item > 4.5, `${item}`);
});
