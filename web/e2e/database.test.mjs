// The page of a database, and the list of all: what is in it, and changing its description.
import { test } from './fixtures.mjs';
import {
  accessible,
  file,
  fits,
  NARROW_AND_DARK,
  newAsset,
  UI,
  vitrine,
  withKey,
} from './walk.mjs';

/** Creates a database, and returns its name. */
function newDatabase(kind, description = 'of a walk') {
  const name = `${kind}-${Date.now()}`;
  vitrine('databases', 'create', name, '--description', description);
  return name;
}

const link = (page, name) => page.getByRole('link', { name, exact: true });

test('a database is reached by keyboard, and leads to its assets, a search and an upload', async ({
  open,
}) => {
  const database = newDatabase('shown', 'Pumps <b>and</b> houses');
  const { page } = await open(NARROW_AND_DARK);
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
  await page.locator('select option:checked', { hasText: database }).waitFor({ state: 'attached' });

  const name = `pump ${Date.now()}`;
  await newAsset(page, [file('a.txt')], name, 'a walk', database);
  vitrine('wait');
  await page.locator('.pairs').getByRole('link', { name: database }).click();
  await page.locator('.pictures', { hasText: name }).waitFor();
  await page.getByText(/^1 asset · created/).waitFor();
  await fits(page);
  await accessible(page, 'a database');
  await link(page, 'Search in this database').click();
  await page.locator('.hits', { hasText: name }).waitFor();
  await page.getByRole('group', { name: 'Chosen filters' }).getByText(database).waitFor();
  await page.locator('details.aside > summary').click();
  await link(page, 'About this database').click();
  await page.locator('.pictures a').first().click();
  await page.locator('.asset h1', { hasText: name }).waitFor();
});
