// Who may do what: a role for a person, why something is allowed, and taking the role away.
import { countActs } from './acts.mjs';
import { test } from './fixtures.mjs';
import { accessible, fits, NARROW_AND_DARK, UI, vitrine, withKey } from './walk.mjs';

const dialog = (page) => page.getByRole('dialog');

test('a colleague gets access to one database, and it is explained and taken away', async ({
  open,
}) => {
  const { page } = await open(NARROW_AND_DARK);
  const [database, role, person] = ['seen', 'readers', 'rita'].map(
    (name) => `${name}-${Date.now()}`,
  );
  vitrine('databases', 'create', database, '--description', 'of a walk');
  vitrine('roles', 'create', role, '--description', 'Read it <b>');
  const only = ['--role', role, '--database', database];
  vitrine('access', 'template', 'apply', 'database-readonly', ...only);
  await withKey(page);
  await page.goto(`${UI}databases/${database}`);
  const acts = countActs(page);
  await acts.click('button', 'Give access');
  await dialog(page).getByLabel('Person').waitFor();
  await page.keyboard.type(person);
  await acts.click('radio', new RegExp(`^${role}`), dialog(page));
  await dialog(page)
    .getByText(new RegExp(`^May see assets, .*whose database is ${database}$`))
    .waitFor();
  await accessible(page, 'a role for a person');
  await fits(page);
  await acts.click('button', 'Give', dialog(page));
  await page.getByText(`${person} has the role ${role} now`).waitFor();
  acts.end('Give read access to one database');

  await page.goto(`${UI}access?user=${person}`);
  await page.getByLabel('What').selectOption('See the database');
  await page.getByLabel('Database', { exact: true }).selectOption(database);
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText(/^Yes\./).waitFor();
  await accessible(page, 'what a person may');
  await fits(page);
  await page.getByLabel('What').selectOption('Create assets in the database');
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText(/^No\./).waitFor();
  await page.getByRole('button', { name: `Take ${role} from ${person}` }).click();
  await accessible(page, 'what a person loses');
  await dialog(page).getByRole('button', { name: 'Take away' }).click();
  await page.getByText(`${person} has no role`).waitFor();
});
