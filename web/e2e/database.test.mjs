// The page of a database, and the list of all: what is in it, and changing its description.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, newAsset, UI, vitrine, withKey } from './walk.mjs';

/** Creates a database, and returns its name. */
function newDatabase(kind, description = 'of a walk') {
  const name = `${kind}-${Date.now()}`;
  vitrine('databases', 'create', name, '--description', description);
  return name;
}

const form = (page) => page.getByRole('form', { name: 'Edit the description' });
const link = (page, name) => page.getByRole('link', { name, exact: true });

for (const [width, colorScheme] of [
  [1280, 'light'],
  [360, 'dark'],
]) {
  test(`a database is reached by keyboard, and leads to its assets, a search and an upload (${width} px)`, async ({
    open,
  }) => {
    const database = newDatabase('shown', 'Pumps <b>and</b> houses');
    const viewport = { width, height: 860 };
    const { page } = await open({ viewport, colorScheme });
    await withKey(page);
    await page.goto(`${UI}databases`);
    await page.getByText('Pumps <b>and</b> houses').first().waitFor();
    await accessible(page, 'the list of databases');
    await link(page, database).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: database }).waitFor();
    await page.getByText('This database has no assets yet.').waitFor();
    await accessible(page, 'an empty database');
    await link(page, 'Upload into this database').press('Enter');
    await page
      .locator('select option:checked', { hasText: database })
      .waitFor({ state: 'attached' });

    const name = `pump ${Date.now()}`;
    await newAsset(page, [file('a.txt')], name, 'a walk', database);
    vitrine('wait');
    await page.locator('.pairs').getByRole('link', { name: database }).click();
    await page.locator('.pictures', { hasText: name }).waitFor();
    await page.getByText(/^1 asset · created/).waitFor();
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    await accessible(page, 'a database');
    await link(page, 'Search in this database').click();
    await page.locator('.hits', { hasText: name }).waitFor();
    await page.getByRole('group', { name: 'Chosen filters' }).getByText(database).waitFor();
    if (width < 900) await page.locator('details.aside > summary').click();
    await link(page, 'About this database').click();
    await page.locator('.pictures a').first().click();
    await page.locator('.asset h1', { hasText: name }).waitFor();
  });
}

test('of two people who change a description, neither loses what was typed', async ({ open }) => {
  const database = newDatabase('edited');
  const [one, other] = [await open(), await open()];
  for (const { page } of [one, other]) {
    await withKey(page);
    await page.goto(`${UI}databases/${database}`);
    await page.getByRole('button', { name: 'Edit the description' }).press('Enter');
  }
  await form(other.page).getByLabel('Description').fill('written by the other');
  await form(other.page).getByRole('button', { name: 'Save' }).click();
  await other.page.getByText('The changes are saved.').waitFor();
  await form(one.page).getByLabel('Description').fill('abc');
  await form(one.page).getByRole('button', { name: 'Save' }).click();
  await form(one.page).getByText('The description needs at least four characters.').waitFor();
  await form(one.page).getByLabel('Description').fill('written by one');
  await form(one.page).getByRole('button', { name: 'Save' }).click();
  await form(one.page).getByText('Somebody else changed the description meanwhile.').waitFor();
  await one.page.locator('.theirs', { hasText: 'written by the other' }).waitFor();
  assert.equal(await form(one.page).getByLabel('Description').inputValue(), 'written by one');
  await accessible(one.page, 'a conflict about a description');
  await form(one.page).getByRole('button', { name: 'Save' }).click();
  await one.page.locator('.database > header', { hasText: 'written by one' }).waitFor();
});

test('a database that is not there, and a connection that is lost, say so', async ({ page }) => {
  await withKey(page);
  for (const name of [`absent-${Date.now()}`, 'x']) {
    await page.goto(`${UI}databases/${name}`);
    await page.getByText('This database does not exist, or you may not see it.').waitFor();
  }
  await accessible(page, 'a database that is not there');
  const database = newDatabase('lost');
  await page.route(`**/database/${database}`, (route) => route.abort());
  await page.goto(`${UI}databases/${database}`);
  await page.getByText('The server did not respond.').waitFor();
  await accessible(page, 'a database without a connection');
  await page.unroute(`**/database/${database}`);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('This database has no assets yet.').waitFor();
});
