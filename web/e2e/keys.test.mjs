// Each act by the keyboard and by two fingers: what the list of keys says is true.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import {
  accessible,
  CORNERS,
  endpoint,
  file,
  HITS,
  NARROW_AND_DARK,
  triangle,
  UI,
  vitrine,
  withKey,
} from './walk.mjs';

const focused = (page, selector) =>
  page.waitForFunction((wanted) => document.activeElement.matches(wanted), selector);

test('the filters are skipped, and a card is selected, by the keyboard', async ({ open }) => {
  const { page } = await open({
    ...NARROW_AND_DARK,
  });
  await withKey(page);
  await page.goto(UI);
  await page.locator(HITS).first().waitFor();
  const skip = page.getByRole('link', { name: 'Skip to the results' });
  await page.keyboard.press('/');
  let tabs = 0;
  while (!(await skip.evaluate((element) => element === document.activeElement))) {
    await page.keyboard.press('Tab');
    assert.ok(++tabs <= 4, 'it is reached by a few presses of Tab');
  }
  const { x, y } = await skip.boundingBox();
  assert.ok(x >= 0 && y >= 0, 'it is visible while it has the focus');
  await accessible(page, 'the link that skips the filters');
  await page.keyboard.press('Enter');
  await focused(page, '.hits [data-index="0"] a');
  await page.keyboard.press('x');
  await page.getByRole('status').getByText('1 selected').waitFor();
  await page.keyboard.press('x');
  await page.locator('.selection').waitFor({ state: 'detached' });
  await page.locator(HITS).first().focus();
  await page.keyboard.press('Tab');
  await focused(page, '.hits [data-index="0"] .select');
  await page.keyboard.press(' ');
  await page.getByRole('status').getByText('1 selected').waitFor();
  assert.equal(await page.locator('.look-at').count(), 0, 'Space selects and does not look');
  await page.keyboard.press('ArrowRight');
  await focused(page, '.hits [data-index="1"] a');
});

/** Moves the focus by Tab to what is wanted. */
async function tabTo(page, wanted) {
  await wanted.waitFor();
  for (let tabs = 0; tabs < 80; tabs++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) {
      assert.ok(await wanted.evaluate((element) => element.matches(':focus-visible')));
      return;
    }
    await page.keyboard.press('Tab');
  }
  assert.fail(`Tab does not lead to ${wanted}`);
}

test('an asset is uploaded, looked at, renamed and found without a mouse', async ({ open }) => {
  const { page } = await open({ viewport: { width: 360, height: 800 } });
  const name = `by keys ${Date.now()}`;
  const press = async (role, named) => {
    await tabTo(page, page.getByRole(role, { name: named, exact: true }));
    await page.keyboard.press('Enter');
  };
  const type = async (label, text) => {
    await tabTo(page, page.getByLabel(label, { exact: true }));
    await page.keyboard.type(text);
  };
  await page.goto(UI);
  await type('API key', endpoint.adminApiKey);
  await page.keyboard.press('Enter');
  await press('link', 'Upload');
  const choosing = page.waitForEvent('filechooser');
  await press('button', 'Choose files');
  await (
    await choosing
  ).setFiles([file('a.gltf', triangle('a.bin', [])), { ...file('a.bin'), buffer: CORNERS }]);
  await page.getByRole('option', { name: 'library' }).waitFor({ state: 'attached' });
  await type('Database', 'library');
  await tabTo(page, page.getByLabel('Name of the asset'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type(name);
  await type('Description', 'without a mouse');
  await press('button', 'Upload 2 files');
  await page.getByText('The upload is complete.').waitFor();
  await press('link', 'Open the asset');

  await page.locator('.model[data-state=shown]').waitFor();
  const canvas = page.locator('.stage canvas');
  await tabTo(page, canvas);
  const fitted = await canvas.screenshot();
  for (const keys of ['ArrowRight', 'Shift+ArrowRight', '+', '-']) {
    const before = await canvas.screenshot();
    await page.keyboard.press(keys);
    assert.ok(!before.equals(await canvas.screenshot()), `${keys} changes the view`);
    await page.keyboard.press('F'); // as with Caps Lock
    assert.ok(fitted.equals(await canvas.screenshot()), 'F fits');
  }
  const wireframe = page.getByRole('button', { name: 'Wireframe' });
  await tabTo(page, wireframe);
  await page.keyboard.press(' ');
  assert.equal(await wireframe.getAttribute('aria-pressed'), 'true');
  await tabTo(page, page.getByLabel('Change a.bin', { exact: true }));
  // After those that download it, upload a new version and show its versions.
  for (let at = 0; at < 4; at++) await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByLabel('File name').waitFor();
  await page.keyboard.type('b');
  await page.keyboard.press('Enter');
  await page.getByText('a.bin is renamed.').waitFor();
  await focused(page, 'summary[data-path="/b.bin"]');

  vitrine('wait');
  await page.keyboard.press('/');
  await page.keyboard.type(`"${name}"`);
  await page.keyboard.press('Enter');
  await tabTo(page, page.locator(HITS, { hasText: name }));
  await page.keyboard.press(' ');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press(' ');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Enter');
  await page.locator('.asset h1', { hasText: name }).waitFor();
});

/** Moves two fingers apart around a point. */
async function pinch(page, { x, y, width, height }) {
  const touch = await page.context().newCDPSession(page);
  const send = (type, spread) =>
    touch.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: spread
        ? [-1, 1].map((side, id) => ({ x: x + width / 2 + side * spread, y: y + height / 2, id }))
        : [],
    });
  await send('touchStart', 20);
  for (let spread = 25; spread <= 80; spread += 5) await send('touchMove', spread);
  await send('touchEnd');
}

test('two fingers zoom the picture and the model, and not the page', async ({ open }) => {
  const { page } = await open({
    viewport: { width: 360, height: 740 },
    hasTouch: true,
    isMobile: true,
  });
  await withKey(page);
  await page.goto(`${UI}?q=house`);
  await page.locator(HITS, { hasText: /^house$/ }).tap();
  await page.locator('.tree .file', { hasText: 'plan.png' }).tap();
  const picture = page.locator('.image img');
  await picture.waitFor();
  await page.waitForFunction(() => document.querySelector('.image img').complete);
  await page.locator('.image').scrollIntoViewIfNeeded();
  const before = await picture.boundingBox();
  await pinch(page, await page.locator('.image').boundingBox());
  await page.waitForFunction(
    (width) => document.querySelector('.image img').getBoundingClientRect().width > 1.5 * width,
    before.width,
  );
  assert.equal(await page.evaluate(() => visualViewport.scale), 1, 'the page is not zoomed');

  await page.goto(`${UI}?q=lamp`);
  await page.locator(HITS, { hasText: /^lamp$/ }).tap();
  await page.locator('.model[data-state=shown]').waitFor();
  const stage = await page.locator('.stage').boundingBox();
  for (const place of [stage, await page.locator('.stage .tools').boundingBox()]) {
    await pinch(page, place);
    assert.equal(await page.evaluate(() => visualViewport.scale), 1, 'the page is not zoomed');
  }
});

for (const width of [360, 1280]) {
  test(`the tools stay in their places when the section opens (${width} px)`, async ({ open }) => {
    const { page } = await open({ viewport: { width, height: 800 } });
    await withKey(page);
    await page.goto(`${UI}?q=lamp`);
    await page.locator(HITS, { hasText: /^lamp$/ }).click();
    await page.locator('.model[data-state=shown]').waitFor();
    const places = () =>
      page.locator('.tools > button').evaluateAll((all) =>
        all.map((element) => {
          const { x, y } = element.getBoundingClientRect();
          return [element.textContent, x, y];
        }),
      );
    const before = await places();
    const section = page.getByRole('button', { name: 'Section' });
    await section.focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Position of the section').waitFor();
    assert.deepEqual(await places(), before);
    await page.keyboard.press('Tab');
    await focused(page, 'select');
    const row = await page.locator('.tools .section').boundingBox();
    assert.ok(row.x >= 0 && row.x + row.width <= width, 'the row is in the window');
    await accessible(page, 'a model that is cut');
  });
}
