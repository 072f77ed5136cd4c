// Archived assets, ranges that cannot be, and the way back from a search.
import assert from 'node:assert/strict';
import { countActs } from './acts.mjs';
import { test } from './fixtures.mjs';
import {
  accessible,
  file,
  filled,
  fits,
  HITS,
  NARROW_AND_DARK,
  newAsset,
  quoted,
  savedPicture,
  UI,
  vitrine,
  withKey,
} from './walk.mjs';

test('archived assets leave the hits, are found on request, and restored', async ({ page }) => {
  const name = `leaving ${Date.now()}`;
  await newAsset(page, [file('a.txt')], name, 'to be archived', 'library');
  vitrine('wait'); // the page that is loaded next has not seen the write
  await withKey(page);
  await page.goto(`${UI}?q=${quoted(name)}`);
  await page.locator(HITS).first().waitFor();
  await page.locator('[data-index="0"] .select').check();
  await page.locator('.selection').getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click();
  await page.locator('.toast.shown', { hasText: '1 asset archived' }).waitFor();
  await page.getByText('Nothing matches').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'content');
  await page.getByLabel('Archived assets too').check();
  await page.locator(HITS, { hasText: name }).waitFor();
  await accessible(page, 'archived assets among the hits');
  await page.getByRole('button', { name: 'Remove filter: Archived assets too' }).waitFor();
  await page.locator(HITS).first().click();
  await page.getByRole('button', { name: 'Restore the asset' }).click();
  await page.getByText('This asset is archived.').waitFor({ state: 'detached' });
});

test('filters over the results lead to them on a narrow page', async ({ open }) => {
  const { page } = await open({ viewport: { width: 820, height: 1180 } });
  await withKey(page);
  await page.goto(`${UI}?q=gear`);
  await page.locator(HITS).first().waitFor();
  await page.locator('details.aside > summary').click();
  await page.getByLabel(/standard-part/).check();
  const show = page.getByRole('button', { name: /^Show \d+ assets?$/ });
  await accessible(page, 'open filters on a tablet');
  await show.click();
  await page.locator('details.aside:not([open])').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), 'content');
});

test('photographs are found by the day on which they were taken', async ({ open }) => {
  const { page } = await open({
    ...NARROW_AND_DARK,
    timezoneId: 'America/Los_Angeles',
  });
  await withKey(page);
  await page.goto(`${UI}?q=photos`);
  await page.locator(HITS, { hasText: 'photos' }).waitFor();
  await page.locator('details.aside > summary').click();
  const range = page.locator('fieldset', { hasText: 'Date taken' });
  assert.match(await range.locator('.bars title').textContent(), /2024: \d asset/);
  await range.getByLabel('From').fill('2024-05-17');
  await range.getByLabel('To').fill('2024-05-17');
  await range.getByLabel('To').press('Enter');
  await page.waitForURL(/taken=/);
  const chosen = page.getByRole('button', { name: /Date taken: May 17, 2024 – May 17, 2024/ });
  await chosen.waitFor();
  // Where the button "Show 1 asset" sticks to the window, it may cover half a field.
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await accessible(page, 'photographs of a day');
  await page.locator('details.aside > summary').click();
  await page.locator(HITS, { hasText: 'photos' }).waitFor();
  await page.goto(`${UI}?q=photos&taken=%5B%222024-05-18%22%2C%222024-05-18%22%5D`);
  await page.getByText('Nothing matches this search.').waitFor();
  await chosen.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /Remove filter: Date taken: May 18/ }).click();
  await page.locator(HITS, { hasText: 'photos' }).waitFor();
});

test('zoom keeps the middle of a picture in its place', async ({ page }) => {
  await withKey(page);
  await page.goto(`${UI}?q=photos`);
  await page.locator(HITS, { hasText: 'photos' }).click();
  await page.locator('.tree .file', { hasText: /jpe?g/ }).first().click();
  const zoom = page.getByRole('button', { name: 'Zoom in' });
  await zoom.click();
  await zoom.click();
  const middle = () =>
    page
      .locator('.image')
      .evaluate((frame) => [
        (frame.scrollLeft + frame.clientWidth / 2) / frame.scrollWidth,
        (frame.scrollTop + frame.clientHeight / 2) / frame.scrollHeight,
      ]);
  for (const part of await middle()) assert.ok(Math.abs(part - 0.5) < 0.02, `${part}`);
});

test('the list counts the tags for which a row has no room, and shows others whole', async ({
  page,
}) => {
  await withKey(page);
  await page.route('**/search', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const [first] = body.hits?.hits ?? [];
    if (first) first._source.list_tags = ['oak', 'elm', 'restoration', 'museum'];
    await route.fulfill({ response, json: body });
  });
  await page.goto(`${UI}?view=list`);
  const tags = page.locator('[data-index="0"] .tags');
  await tags.getByText('+2').waitFor();
  const [place, ...parts] = await tags.evaluate((element) =>
    [element, ...element.children].map((child) => {
      const { top, bottom, left, right } = child.getBoundingClientRect();
      return { top, bottom, left, right };
    }),
  );
  assert.equal(parts.length, 3);
  for (const part of parts) {
    assert.ok(part.right <= place.right + 1 && part.left >= place.left - 1, 'within its column');
  }
  const isWhole = (tag) => tag.scrollWidth <= tag.clientWidth;
  for (const tag of await tags.locator('.tag').all()) assert.ok(await tag.evaluate(isWhole));
  await accessible(page, 'a list with tags');
});

test('the list is sorted by its heads, and an asset leads to the hits beside it', async ({
  page,
}) => {
  await withKey(page);
  await page.goto(`${UI}?view=list`);
  await page.locator(HITS).first().waitFor();
  await page.getByRole('button', { name: 'Columns' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('checkbox', { name: 'Triangles', exact: true }).check();
  await dialog.getByLabel('Key').fill('material');
  await dialog.getByLabel('Key').press('Enter');
  await dialog.getByRole('checkbox', { name: 'material', exact: true }).waitFor();
  await accessible(page, 'columns to choose');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('group', { name: 'Sort by' }).getByText('Triangles').click();
  await page.waitForURL(/sort=-fact_triangles/);
  await page.waitForFunction(() => {
    const cells = [...document.querySelectorAll('.hits .number:nth-last-child(2)')].slice(0, 5);
    const counts = cells.map(({ textContent }) => Number(textContent.replaceAll(',', '')));
    return (
      counts.length === 5 &&
      counts.every((count, at) => count > 0 && count <= (counts[at - 1] ?? Infinity))
    );
  });
  await page.getByRole('button', { name: 'Name' }).click();
  await page.getByRole('button', { name: /^Name/, pressed: true }).waitFor();
  await page.waitForFunction((hits) => {
    const names = [...document.querySelectorAll(hits)].map(({ textContent }) => textContent);
    return (
      names.length > 1 && names.every((name, at) => !at || names[at - 1].localeCompare(name) <= 0)
    );
  }, HITS);
  const [first, second] = await page.locator(HITS).allTextContents();
  await page.getByRole('button', { name: 'Tags', exact: true }).click();
  await accessible(page, 'a sorted list with a folded filter');
  await page.reload();
  await page.locator(HITS).first().waitFor();
  await page.getByRole('button', { name: 'Tags', exact: true, expanded: false }).waitFor();
  await page.locator(HITS).first().click();
  await page.getByRole('link', { name: `Next: ${second}` }).click();
  await page.getByRole('heading', { level: 1, name: second }).waitFor();
  await page.getByRole('link', { name: `Previous: ${first}` }).waitFor();
  await accessible(page, 'an asset among hits');
  await page.getByRole('link', { name: 'Results' }).click();
  await page.getByRole('button', { name: /^Name/, pressed: true }).waitFor();
});

test('a flat model fills its stage', async ({ page }) => {
  await withKey(page);
  await page.goto(`${UI}?q=${quoted('ring-gear')}`);
  await page.locator(HITS).first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  const pixels = await savedPicture(page, 100);
  const drawn = pixels.flatMap((value, at) => (at % 4 === 3 && value ? [(at - 3) / 4] : []));
  const rows = new Set(drawn.map((at) => Math.floor(at / 100))).size;
  const columns = new Set(drawn.map((at) => at % 100)).size;
  // A ring touches its framed box in the middle of the edges only.
  assert.ok(Math.max(rows, columns) >= 55, `it fills ${rows} % of the height, ${columns} % across`);
});

test('a part of a model is shown alone', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await withKey(page);
  await page.goto(`${UI}?q=${quoted('robot-arm')}`);
  await page.locator(HITS).first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  const whole = await filled(page);
  await page.getByRole('button', { name: 'Parts', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Parts' });
  await panel
    .getByRole('button', { name: /^Show only/ })
    .last()
    .click();
  await accessible(page, 'the parts of a model');
  await fits(page);
  const part = await filled(page);
  assert.ok(part > 0 && part < whole, `${part} of ${whole} is drawn`);
  await panel.getByRole('button', { name: 'Show all' }).click();
  assert.equal(await filled(page), whole);
});

test('a search and an asset are saved for this user, and opened again', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await withKey(page);
  await page.goto(`${UI}?q=gear&view=list`);
  await page.locator(HITS).first().waitFor();
  const acts = countActs(page);
  const dialog = page.getByRole('dialog');
  await acts.click('button', 'Save search');
  await dialog.getByLabel('Name').waitFor();
  await accessible(page, 'a search to save');
  await acts.click('button', 'Save', dialog);
  await page.getByText('gear is saved').waitFor();
  acts.end('Save a search');
  await page.locator(HITS).first().click();
  await page.getByRole('button', { name: 'Add to favourites' }).click();
  await page.getByRole('button', { name: 'Remove from favourites' }).waitFor();
  await acts.click('button', 'Account');
  await acts.click('link', 'Saved');
  await page.locator('.saved .pictures a').first().waitFor();
  await accessible(page, 'what is saved');
  await fits(page);
  await acts.click('link', 'gear', page.getByRole('region', { name: 'Saved searches' }));
  await page.locator(HITS).first().waitFor();
  acts.end('Open a saved search');
  assert.equal(new URL(page.url()).search, '?q=gear&view=list');
});

test('where photographs were taken is on a map, also by keys', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  await withKey(page);
  await page.goto(`${UI}?q=photos`);
  await page.getByRole('button', { name: 'Map', exact: true }).click();
  const map = page.getByRole('region', { name: 'Map' });
  const group = map.getByRole('button', { name: /places here$/ }).first();
  await group.press('Enter');
  await map.getByRole('link', { name: 'photos' }).first().waitFor();
  await accessible(page, 'a map of hits');
  await fits(page);
  const nearer = map.getByRole('button', { name: 'Zoom in' });
  for (let times = 0; times < 4; times += 1) await nearer.click();
  await map
    .getByRole('link', { name: /^photos: .*jpg$/ })
    .first()
    .press('Enter');
  await page.locator('.stage img').waitFor();
});
