// An asset with very many files: its list, its viewer and its menus.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { file, newAsset, UI, withKey } from './walk.mjs';

test('five thousand files of an asset are loaded, filtered and opened beside their viewer', async ({
  open,
}) => {
  const { page } = await open({ viewport: { width: 1280, height: 800 } });
  await withKey(page);
  const asset = await newAsset(page, [file('a.txt')], 'Many files');
  const [all, some, folder] = [5000, 500, 250];
  let sample;
  await page.route('**/listFiles**', async (route) => {
    if (route.request().method() === 'OPTIONS') return route.continue();
    const from = Number(new URL(route.request().url()).searchParams.get('startingToken') ?? 0);
    // The server refuses tokens that are not its own: only the first reply is one of it.
    const body = from === 0 ? await (await route.fetch()).json() : { items: [], message: '' };
    sample ??= body.items.find((item) => !item.isFolder);
    body.items = Array.from({ length: some }, (_, at) => ({
      ...sample,
      key: `${sample.key}-${from + at}`,
      fileName: `part-${from + at}.txt`,
      relativePath: `/set ${Math.floor((from + at) / folder)}/part-${from + at}.txt`,
    }));
    body.NextToken = from + some < all ? String(from + some) : null;
    await route.fulfill({ json: body });
  });
  await page.goto(`${UI}databases/${asset.database}/assets/${asset.id}`);
  const folders = page.locator('.tree summary', { hasText: /^set / });
  const row = (number) => page.locator('.tree .file', { hasText: `part-${number}.txt` });
  for (let loaded = some; loaded < all; loaded += some) {
    await page.getByRole('button', { name: 'Load more files' }).click();
    await folders.nth((loaded + some) / folder - 1).waitFor();
  }
  const filter = page.getByLabel('Filter files');
  await filter.fill('part-4999');
  await row(4999).waitFor();
  assert.equal(await page.locator('.tree .file').count(), 1);
  await filter.fill('');
  await folders.nth(3).click();
  await row(990).click();
  await page.locator('.tree .file[aria-current]', { hasText: 'part-990.txt' }).waitFor();
  const stage = await page.locator('.asset > .main').boundingBox();
  assert.ok(stage.y >= 0, `the stage begins at ${stage.y}`);
  assert.ok(await row(990).isVisible());
  const menu = page.getByLabel('Change set 3/part-999.txt', { exact: true });
  await menu.click();
  const last = page.locator('.file-menu .choices button').last();
  const { y, height } = await last.boundingBox();
  assert.ok(y > 0 && y + height <= 800, `the last act of the menu is at ${y}`);
  await last.click({ trial: true });
});
