// Conditions on facts: by their labels, in the form and in links, and what is said of wrong ones.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, HITS, UI, withKey } from './walk.mjs';

const removal = (page, name) => page.getByRole('button', { name: `Remove filter: ${name}` });

for (const [width, colorScheme] of [
  [1280, 'light'],
  [360, 'dark'],
]) {
  test(`a fact is chosen by its label, with the keyboard only (${colorScheme}, ${width} px)`, async ({
    open,
  }) => {
    const viewport = { width, height: 860 };
    const { page } = await open({ viewport, colorScheme });
    await withKey(page);
    await page.goto(UI);
    await page.locator(HITS).first().waitFor();
    if (width < 896) await page.locator('.find .aside > summary').press('Enter');
    await page.getByLabel('Fact or metadata').focus();
    await page.keyboard.type('Triangles');
    await page.keyboard.press('Tab');
    await page.keyboard.type('at least');
    await page.keyboard.press('Tab');
    await page.keyboard.type('many');
    await page.keyboard.press('Enter');
    const value = page.getByLabel('Value', { exact: true });
    const alert = page.locator('form.condition [role=alert]');
    assert.match(await alert.innerText(), /condition on “Triangles” must be a number/);
    assert.equal(await value.getAttribute('aria-invalid'), 'true');
    assert.ok(await value.evaluate((each) => each === document.activeElement));
    await accessible(page, 'a condition that cannot be');
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    await value.fill('1000');
    await page.keyboard.press('Enter');
    await removal(page, 'Triangles at least 1000').waitFor();
    await page.locator(HITS).first().waitFor();
  });
}

test('a fact is also named by its key, and one of yes and no by a choice', async ({ page }) => {
  await withKey(page);
  await page.goto(UI);
  await page.getByLabel('Key', { exact: true }).fill('fact_format');
  await page.getByLabel('Value', { exact: true }).fill('LAZ');
  await page.getByRole('button', { name: 'Add condition' }).click();
  await removal(page, 'Format is LAZ').waitFor();
  await page.locator(HITS, { hasText: 'survey' }).waitFor();
  await removal(page, 'Format is LAZ').click();
  await page.getByLabel('Fact or metadata').selectOption('Watertight');
  assert.deepEqual(await page.getByLabel('Condition').locator('option').allInnerTexts(), [
    'is',
    'exists',
  ]);
  await page.getByLabel('Value', { exact: true }).selectOption('yes');
  await page.getByRole('button', { name: 'Add condition' }).click();
  await removal(page, 'Watertight is yes').waitFor();
  await page.locator(HITS).first().waitFor();
  await page.getByLabel('Key', { exact: true }).fill('fact_colour');
  await page.getByRole('button', { name: 'Add condition' }).click();
  await page.getByText('There is no fact “fact_colour”.').waitFor();
});

test('a link with a condition that cannot be is refused in a sentence, without another try', async ({
  page,
}) => {
  await withKey(page);
  const meta = [{ key: 'fact_points', op: 'gte', value: 'many' }];
  await page.goto(`${UI}?meta=${encodeURIComponent(JSON.stringify(meta))}`);
  const alert = page.locator('#results [role=alert]');
  await alert.waitFor();
  assert.match(await alert.innerText(), /condition on “Points” must be a number/);
  assert.equal(await alert.getByRole('button').count(), 0);
  await accessible(page, 'a refused search');
  await removal(page, 'Points at least many').click();
  await page.locator(HITS).first().waitFor();
  // What only the server refuses is named alike.
  const long = [{ key: 'fact_generator', op: 'eq', value: 'x'.repeat(1025) }];
  await page.goto(`${UI}?meta=${encodeURIComponent(JSON.stringify(long))}`);
  await alert.waitFor();
  assert.match(await alert.innerText(), /^The condition on “Generator”: a text can have/i);
  assert.equal(await alert.getByRole('button').count(), 0);
});

test('signs without a letter or digit ask for no suggestions', async ({ page }) => {
  await withKey(page);
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  const asked = [];
  page.on('request', (request) => {
    if (/\/search\/suggest/.test(request.url())) asked.push(new URL(request.url()).search);
  });
  const box = page.getByLabel('Search assets and files');
  for (const signs of ['*', '(((', '😀', '- ?']) {
    await box.fill(signs);
    await page.waitForTimeout(600);
    assert.equal(await page.locator('.options li').count(), 0, signs);
  }
  assert.deepEqual(asked, []);
  await box.fill('gea');
  await page.locator('.options li').first().waitFor();
});
