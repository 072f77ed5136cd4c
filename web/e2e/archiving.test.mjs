// Archiving selected assets: they leave the hits at once.
import { after, before, test } from 'node:test';
import { launch } from './browser.mjs';
import { clean, close, file, HITS, newAsset, open, UI, withKey } from './walk.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

test('archived assets leave the hits, and the counts', async () => {
  const { context, page, seen } = await open(browser);
  const name = `leaving ${Date.now()}`;
  await newAsset(page, [file('a.txt')], name, 'to be archived', 'library');
  await withKey(page);
  await page.goto(`${UI}?q=${encodeURIComponent(`"${name}"`)}`);
  await page.locator(HITS).first().waitFor();
  await page.locator('[data-index="0"] .select').check();
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click();
  await page.getByText('Nothing matches').waitFor({ timeout: 15_000 });
  clean(seen);
  await close(context);
});
