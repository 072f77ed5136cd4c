// A form that is not accepted marks its wrong fields, and the focus goes to the first of them.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, newAsset, UI, withKey } from './walk.mjs';

/** Waits until the field is marked, has the focus and is described by the sentence. */
async function marked(field, sentence) {
  const page = field.page();
  const label = await field.evaluate((each) => each.labels[0].textContent);
  await page
    .waitForFunction(
      (wanted) => {
        const { activeElement: at } = document;
        return at.ariaInvalid === 'true' && at.labels?.[0].textContent === wanted;
      },
      label,
      { timeout: 10_000 },
    )
    .catch(() => assert.fail(`${label} is not marked, or has no focus`));
  const words = await field.evaluate((each) =>
    each
      .getAttribute('aria-describedby')
      .split(' ')
      .map((id) => document.getElementById(id)?.textContent)
      .join(' '),
  );
  assert.match(words, sentence, `what describes ${label}`);
  assert.equal(await page.locator('[aria-invalid=true]').count(), 1, 'other fields are not');
}

for (const [width, colorScheme] of [
  [360, 'dark'],
  [1280, 'light'],
]) {
  test(`each form marks the field that is wrong (${width} px)`, async ({ open }) => {
    const viewport = { width, height: 760 };
    const { page } = await open({ viewport, colorScheme });
    await page.goto(UI);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await marked(page.getByLabel('API key'), /Enter an API key/);
    await page.keyboard.type('vams_wrong');
    await page.keyboard.press('Enter');
    await page.getByText('does not accept this key').waitFor();
    await marked(page.getByLabel('API key'), /does not accept this key/);
    await accessible(page, 'a refused key');

    await withKey(page);
    await page.goto(`${UI}upload`);
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([file('a.txt')]);
    const send = page.getByRole('button', { name: 'Upload 1 file' });
    await page.getByLabel('Database', { exact: true }).selectOption('library');
    await page.getByLabel('Name of the asset').fill('');
    await send.click();
    await marked(page.getByLabel('Name of the asset'), /Name of the asset is required/);
    await page.getByLabel('Name of the asset').fill('a < b');
    await send.click();
    await marked(page.getByLabel('Description', { exact: true }), /at least four characters/);
    await accessible(page, 'an upload without a description');
    await page.getByLabel('Description', { exact: true }).fill('a walk');
    await page.keyboard.press('Enter');
    await page.locator('.target .failure', { hasText: /^The name / }).waitFor();
    await marked(page.getByLabel('Name of the asset'), /^The name /);
    await page.getByLabel('An existing asset').check();
    await send.click();
    await marked(page.getByLabel('Asset', { exact: true }), /Asset is required/);

    await newAsset(page, [file('a.txt'), file('b.txt')], `forms ${Date.now()}`);
    await page.getByLabel('Change a.txt').click();
    await page.getByRole('button', { name: 'Rename' }).click();
    const dialog = page.getByRole('dialog');
    const name = dialog.getByLabel('File name');
    for (const [typed, sentence] of [
      ['', /File name is required/],
      ['b.txt', /already has a file/],
      ['<b>.txt', /^The name “<b>.txt” must not contain/],
    ]) {
      await name.fill(typed);
      await page.keyboard.press('Enter');
      await dialog.getByText(sentence).waitFor();
      await marked(name, sentence);
    }
    await accessible(page, 'a refused name');
    await page.keyboard.press('Escape');
    await page.getByLabel('Change a.txt').click();
    await page.getByRole('button', { name: 'Move' }).click();
    await page.keyboard.press('Enter');
    await marked(dialog.getByLabel('Folder'), /The file is there already/);
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Name of the asset').fill(' ');
    await page.keyboard.press('Enter');
    await marked(page.getByLabel('Name of the asset'), /is required/);
    await page.getByLabel('Name of the asset').fill('fine');
    await page.getByLabel('Description', { exact: true }).fill('x');
    await page.getByRole('button', { name: 'Save' }).click();
    await marked(page.getByLabel('Description', { exact: true }), /at least four characters/);
    await accessible(page, 'an asset that is edited');
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.goto(`${UI}databases/library`);
    await page.getByRole('button', { name: 'Edit the description' }).click();
    await page.getByLabel('Description', { exact: true }).fill('x');
    await page.getByRole('button', { name: 'Save' }).click();
    await marked(page.getByLabel('Description', { exact: true }), /at least four characters/);
    await page.getByRole('button', { name: 'Cancel' }).click();

    await page.goto(UI);
    if (width < 896) await page.locator('.find .aside > summary').click();
    await page.getByRole('button', { name: 'Add condition' }).click();
    await marked(page.getByLabel('Key', { exact: true }), /is required/);
    await page.keyboard.type('material');
    await page.keyboard.press('Enter');
    await marked(page.getByLabel('Value', { exact: true }), /is required/);
  });
}
