// Pictures of models that turn while the pointer rests on them.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, UI, withKey } from './walk.mjs';

/** Opens results, and records requests for models. */
async function results(open, words, options) {
  const { page } = await open(options);
  const sent = [];
  page.on('request', (request) => {
    if (request.url().includes('/files/glb?')) sent.push(request.url());
  });
  await withKey(page);
  await page.goto(`${UI}?q=${words}`);
  await page.locator('.card .picture img').first().waitFor();
  return { page, sent, card: page.locator('.card').first() };
}

const TURNED = '.turning.shown';
const boxes = (page) =>
  page
    .locator('.card, .card .picture, .card .picture img:not(.turning)')
    .evaluateAll((all) => all.map((element) => JSON.stringify(element.getBoundingClientRect())));
const away = (page) => page.mouse.move(2, 500);

test('a model turns while the pointer rests on its card, and nothing moves', async ({ open }) => {
  const { page, sent, card } = await results(open, 'lighthouse');
  const before = await boxes(page);
  await card.hover();
  await card.locator(TURNED).waitFor();
  const bytes = await page.request.get(await card.locator(TURNED).getAttribute('src'));
  assert.ok((await bytes.body()).includes('acTL'), 'an animated PNG');
  assert.deepEqual(await boxes(page), before, 'nothing moves');
  const [still, turning] = await Promise.all(
    ['.picture', TURNED].map((item) => card.locator(item).boundingBox()),
  );
  assert.deepEqual(turning, still, 'it covers the still picture');
  await accessible(page, 'a picture that turns');
  await away(page);
  await page.locator('.turning').waitFor({ state: 'detached' });
  await card.hover();
  await card.locator(TURNED).waitFor();
  assert.equal(sent.length, 1, 'the address is kept');
  // The whole card still opens the asset.
  await card.click({ position: { x: 60, y: 60 } });
  await page.locator('.asset h1', { hasText: 'lighthouse' }).waitFor();
});

test('similar shapes turn, and so do the pictures of the list', async ({ open }) => {
  const { page, card } = await results(open, 'bookshelf');
  await card.click({ position: { x: 60, y: 60 } });
  const similar = page.getByRole('region', { name: 'Similar shapes' });
  await similar.getByRole('link').first().hover();
  await similar.locator(TURNED).waitFor();
  await page.goto(`${UI}?q=bookshelf&view="list"`);
  await page.locator('article.row').first().hover();
  await page.locator(`.row ${TURNED}`).waitFor();
});

test('a pointer that passes, a photograph, less motion and a finger ask for nothing', async ({
  open,
}) => {
  const ways = [
    ['lighthouse', {}, async ({ page, card }) => [await card.hover(), await away(page)]],
    ['lake', {}, ({ card }) => card.hover()],
    ['lighthouse', { reducedMotion: 'reduce' }, ({ card }) => card.hover()],
    ['lighthouse', { hasTouch: true }, ({ card }) => card.dispatchEvent('pointerover', TOUCH)],
  ];
  for (const [words, options, point] of ways) {
    const opened = await results(open, words, options);
    await point(opened);
    await opened.page.waitForTimeout(800);
    assert.deepEqual(opened.sent, [], `${words} ${JSON.stringify(options)}`);
  }
});
const TOUCH = { pointerType: 'touch', bubbles: true };

test('a model without a turntable, or that may not be downloaded, keeps its picture', async ({
  open,
}) => {
  const replies = [
    { json: { glb: null } },
    { status: 403, json: { code: 'PermissionDenied', message: 'Not allowed' } },
    { json: { turntable: { url: '/no-picture.png' } } },
  ];
  for (const reply of replies) {
    const { page, sent, card } = await results(open, 'lighthouse');
    await page.route('**/files/glb?**', (route) => route.fulfill(reply));
    await card.hover();
    await page.waitForRequest('**/files/glb?**');
    await page.waitForTimeout(500);
    assert.equal(await page.locator(TURNED).count(), 0);
    assert.ok(await card.locator('.picture img:not(.turning)').isVisible());
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.equal(sent.length, 1, 'it is not requested again');
  }
});
