// Zoom of pictures: by the wheel about the pointer, by keys and buttons, and what is said of it.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, fits, HITS, NARROW_AND_DARK, UI, withKey } from './walk.mjs';

async function photo(page) {
  await withKey(page);
  await page.goto(`${UI}?q=photos`);
  await page.locator(HITS, { hasText: 'photos' }).click();
  await page.locator('.tree .file', { hasText: /jpe?g/ }).first().click();
  await page.locator('.image.shown').waitFor();
}

const shownPart = async (page) => Number.parseInt(await page.locator('.zoom').innerText(), 10);

/** Which part of the picture is at a point of the window, from 0 to 1. */
const partAt = (page, x, y) =>
  page.locator('.image img').evaluate(
    (img, at) => {
      const { left, top, width, height } = img.getBoundingClientRect();
      return [(at.x - left) / width, (at.y - top) / height];
    },
    { x, y },
  );

test('the wheel zooms a picture about the pointer', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await photo(page);
  const fit = await shownPart(page);
  const place = await page.locator('.image').boundingBox();
  // Below a picture that is smaller than its place there is nothing to keep in its place.
  const at = { x: place.x + place.width * 0.6, y: place.y + place.height / 2 };
  await page.mouse.move(at.x, at.y);
  const before = await partAt(page, at.x, at.y);
  const top = await page.evaluate(() => scrollY);
  for (let turn = 0; turn < 6; turn++) await page.mouse.wheel(0, -300);
  await page.waitForFunction(
    (least) => Number.parseInt(document.querySelector('.zoom').textContent, 10) > 4 * least,
    fit,
  );
  const after = await partAt(page, at.x, at.y);
  before.forEach((part, axis) => assert.ok(Math.abs(part - after[axis]) < 0.01, `${after}`));
  assert.equal(await page.evaluate(() => scrollY), top, 'the page does not scroll');
  // What is dragged follows the mouse.
  await page.mouse.down();
  await page.mouse.move(at.x - 60, at.y - 40, { steps: 4 });
  await page.mouse.up();
  const dragged = await partAt(page, at.x - 60, at.y - 40);
  after.forEach((part, axis) => assert.ok(Math.abs(part - dragged[axis]) < 0.01, `${dragged}`));
  await accessible(page, 'a zoomed picture');
  await fits(page);
  await page.getByRole('button', { name: 'Fit', exact: true }).click();
  assert.equal(await shownPart(page), fit);
});

test('a picture is zoomed with the keyboard only, and the zoom is said', async ({ page }) => {
  await photo(page);
  const fit = await shownPart(page);
  await page.locator('.image').focus();
  await page.keyboard.press('+');
  assert.ok((await shownPart(page)) > fit);
  await page.keyboard.press('1');
  assert.equal(await shownPart(page), 100);
  const width = await page
    .locator('.image img')
    .evaluate((img) => img.getBoundingClientRect().width / img.naturalWidth);
  assert.ok(Math.abs(width - 1) < 0.001, `${width}`);
  await page.locator('.tools [role=status]', { hasText: 'Zoom: 100%' }).waitFor();
  for (let step = 0; step < 4; step++) await page.keyboard.press('+');
  const zoomed = await shownPart(page);
  const left = () => page.locator('.image').evaluate((place) => place.scrollLeft);
  const before = await left();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(
    (scrolled) => document.querySelector('.image').scrollLeft > scrolled,
    before,
  );
  await page.keyboard.press('-');
  assert.ok((await shownPart(page)) < zoomed);
  await page.keyboard.press('f');
  assert.equal(await shownPart(page), fit);
  await page.getByRole('button', { name: '100%' }).press('Enter');
  assert.equal(await shownPart(page), 100);
});
