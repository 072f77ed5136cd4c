// A picture that the viewer saves shows the model as it is seen at that moment.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { HITS, savedPicture, UI, withKey } from './walk.mjs';

test('a saved picture shows the model, and follows the view', async ({ page }) => {
  await withKey(page);
  await page.goto(`${UI}?q=lighthouse`);
  await page.locator(HITS).first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  const front = await savedPicture(page, 100);
  const colours = new Set();
  for (let at = 0; at < front.length; at += 4) {
    if (front[at + 3]) colours.add(front.slice(at, at + 3).join());
  }
  assert.ok(colours.size > 20, `${colours.size} colours are drawn`);
  await page.locator('.stage canvas').press('ArrowLeft');
  const turned = await savedPicture(page, 100);
  const changed = turned.filter((value, at) => value !== front[at]).length;
  assert.ok(changed > 100, `${changed} values differ after the model was turned`);
});
