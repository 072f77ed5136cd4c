// Photographs: camera, time, exposure and position beside the picture, and in searches.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import {
  accessible,
  fits,
  HITS,
  NARROW_AND_DARK,
  newAsset,
  UI,
  vitrine,
  withKey,
} from './walk.mjs';

test('a photograph shows how it was taken, and is found by it', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await withKey(page);
  const meta = [{ key: 'fact_latitude', op: 'gte', value: '47.4' }];
  await page.goto(`${UI}?${new URLSearchParams({ q: 'lake', meta: JSON.stringify(meta) })}`);
  await page.locator(HITS).first().press('Enter');
  const facts = page.locator('section', { has: page.locator('#facts') });
  await page.locator('.tree .file', { hasText: 'lake-at-sunrise.jpg' }).click();
  await page.locator('.stage .photo').waitFor();
  assert.equal(
    await page.locator('.stage .photo').innerText(),
    'Vitrine Sample Camera 1 · 35\u00a0mm · f/8 · 1/60\u00a0s · ISO 100',
  );
  for (const words of [
    'CameraVitrine Sample Camera 1',
    'TakenMay 17, 2024, 5:42',
    'Exposure1/60\u00a0s',
    'Aperturef/8',
    'Focal length35\u00a0mm',
    'Latitude47.4979°',
    'Longitude12.1131°',
  ]) {
    assert.ok((await facts.locator('dl').textContent()).includes(words), words);
  }
  await fits(page);
  await accessible(page, 'a photograph');
});

test('photographs are found by their time and their exposure', () => {
  const search = (...where) => vitrine('search', '', ...where.flatMap((item) => ['--where', item]));
  assert.match(search('taken=2024-05-17T05:42:10'), /lake-at-sunrise\.jpg/);
  assert.match(search('focalLength<=35', 'iso>=100'), /lake-at-sunrise\.jpg/);
  assert.doesNotMatch(search('focalLength<=34'), /lake-at-sunrise\.jpg/);
});

/** A red picture in TGA, which no browser shows. */
const tga = () =>
  Buffer.concat([
    Buffer.from([0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 8, 0, 24, 0x20]),
    Buffer.alloc(8 * 8 * 3, Buffer.from([0, 0, 255])),
  ]);

test('of a picture that no browser shows there is the server’s, and no failure', async ({
  open,
}) => {
  const { page } = await open();
  const stamp = Date.now();
  const picture = { name: 'red.tga', mimeType: 'image/x-tga', buffer: tga() };
  await newAsset(page, [picture], `old picture ${stamp}`, 'a walk', 'library');
  await page.locator('.stage .caption', { hasText: 'This is a picture of the file.' }).waitFor();
  await page.locator('.stage .poster img').waitFor();
  assert.equal(await page.locator('.stage .failed').count(), 0);
});
