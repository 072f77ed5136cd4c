// A small file of each promised format (tests/format_files.py) in its viewer, with its facts.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from './fixtures.mjs';
import { request, UI, withKey } from './walk.mjs';

const LIST = `${process.env.VITRINE_SCRATCH}/formats.json`;

/** How many colours are on a canvas, without what is before it. */
async function countColours(canvas) {
  await canvas.evaluate((element) => {
    for (const other of element.closest('.stage').querySelectorAll(':scope > :not(.model)'))
      other.style.visibility = 'hidden';
  });
  const png = (await canvas.screenshot()).toString('base64');
  return canvas.evaluate(async (_, base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const context = new OffscreenCanvas(200, 200).getContext('2d');
    const [width, height] = [picture.width / 10, picture.height / 10];
    context.drawImage(picture, width, height, 8 * width, 8 * height, 0, 0, 200, 200);
    return new Set(new Uint32Array(context.getImageData(0, 0, 200, 200).data.buffer)).size;
  }, png);
}

/** Waits until a condition holds of an element. */
const until = async (element, condition) =>
  element.page().waitForFunction(condition, await element.elementHandle());
const isDecoded = (image) => image.complete && image.naturalWidth > 1;

const VIEWERS = {
  model: async (stage) => {
    await stage.locator('.model[data-state=shown]').waitFor();
    const end = Date.now() + 10_000;
    // Splats are drawn after a worker has sorted them.
    while ((await countColours(stage.locator('canvas'))) <= 2)
      assert.ok(Date.now() < end, 'nothing is drawn');
  },
  splats: (stage) => VIEWERS.model(stage),
  picture: (stage) => until(stage.locator('.poster img'), isDecoded),
  image: (stage) => until(stage.locator('.image.shown img'), isDecoded),
  video: (stage) => until(stage.locator('video'), (film) => film.videoWidth > 0),
  audio: (stage) => until(stage.locator('audio'), (sound) => sound.duration > 0),
  pdf: (stage) => until(stage.locator('canvas'), (canvas) => canvas.width > 1),
  none: (stage) =>
    stage.locator('.failed', { hasText: 'This file cannot be shown here.' }).waitFor(),
};

/** Files whose content no browser decodes. */
const UNPLAYABLE = ['a.wma', 'a.theora.mp4'];

function viewerOf({ path, viewer, isModel }) {
  if (UNPLAYABLE.includes(path)) return 'none';
  return viewer === 'model' && !isModel ? 'picture' : viewer;
}

test('a file of each promised format is shown with its facts', async ({ page }) => {
  test.setTimeout(600_000);
  page.setDefaultTimeout(30_000);
  await withKey(page);
  const [asset] = (await request('GET', '/database/formats/assets')).Items;
  await page.goto(`${UI}databases/formats/assets/${asset.assetId}`);
  const failures = {};
  for (const format of JSON.parse(readFileSync(LIST, 'utf8'))) {
    const [path, viewer] = [format.path, viewerOf(format)];
    const stage = page.locator(`.stage[aria-label="${path}"]`);
    try {
      await page.locator(`.tree a[href$="${encodeURIComponent(`/${path}`)}"]`).click();
      await VIEWERS[viewer](stage);
      await page.locator('.facts dd').first().waitFor();
      assert.equal(await stage.locator('.failed').count(), viewer === 'none' ? 1 : 0);
    } catch (error) {
      const text = await stage.innerText({ timeout: 1000 }).catch(() => 'no stage');
      failures[path] = `${error.message}\n${text}`;
    }
  }
  assert.deepEqual(failures, {});
});
