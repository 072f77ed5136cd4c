// Writes the pictures of the README: the grid, and the viewer with a model.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './browser.mjs';
import { open, UI, withKey } from './walk.mjs';

const target = process.argv[2] ?? 'docs/images';
mkdirSync(target, { recursive: true });
const browser = await launch();

/** Waits until every picture in view is there, and nothing moves. */
async function settled(page) {
  await page.waitForFunction(() =>
    [...document.querySelectorAll('.hits img')].every((item) => item.complete),
  );
  await page.waitForTimeout(500);
}

async function shoot(name, path, ready) {
  const { context, page } = await open(browser, { viewport: { width: 1200, height: 760 } });
  await withKey(page);
  await page.goto(UI + path);
  await page.locator('.hits img').first().waitFor();
  await ready(page);
  await settled(page);
  const file = join(target, `${name}.jpg`);
  await page.screenshot({ path: file, type: 'jpeg', quality: 82 });
  process.stdout.write(`${file}\n`);
  await context.close();
}

await shoot('grid', '', () => undefined);
await shoot('viewer', '?q=planetary-gear', async (page) => {
  await page.locator('.hits li a').first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  await page.waitForTimeout(1500);
});
await browser.close();
