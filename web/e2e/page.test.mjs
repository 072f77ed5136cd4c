import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import {
  accessible,
  chooseFiles,
  CORNERS,
  endpoint,
  file,
  filled,
  fits,
  HITS,
  newLink,
  triangle,
  UI,
  withKey,
} from './walk.mjs';

const ASSET = '.asset .tree .file';

async function find(page, path = '') {
  await withKey(page);
  await page.goto(UI + path);
  await page.locator(HITS).first().waitFor();
}

test('a one-time link signs in once, and a second use shows what to do', async ({ open }) => {
  const link = newLink();
  const first = await open();
  await first.page.goto(link);
  await first.page.locator(HITS).first().waitFor();
  assert.equal(await first.page.evaluate(() => location.hash), '');
  const second = await open();
  await second.page.goto(link);
  await second.page.getByText('The one-time link did not work').waitFor();
  await accessible(second.page, 'a used link');
});

test('an API key signs in, a wrong one is refused in words, and signing out leaves nothing', async ({
  page,
}) => {
  await page.goto(UI);
  const key = page.getByLabel('API key', { exact: true });
  await key.fill('vams_wrong');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('The server does not accept this key').waitFor();
  await key.fill(endpoint.adminApiKey);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator(HITS).first().click();
  await page.locator(ASSET).first().waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await key.waitFor();
  await page.waitForTimeout(1000);
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  assert.equal(await page.locator('.asset, .hits').count(), 0);
});

for (const colorScheme of ['light', 'dark']) {
  test(`finding works by keyboard and axe has nothing serious to say (${colorScheme})`, async ({
    open,
  }) => {
    const { page } = await open({ colorScheme });
    await find(page);
    await accessible(page, 'find');
    await page.keyboard.press('/');
    await page.keyboard.type('lighthouse');
    await page.waitForURL(/q=lighthouse/);
    await page.waitForFunction(() => document.querySelectorAll('.hits li a').length === 1);
    await page.locator(HITS).first().focus();
    await page.keyboard.press(' ');
    await page.locator('.look-at .model[data-state=shown]').waitFor();
    await accessible(page, 'a quick look');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.locator(ASSET).first().waitFor();
    await page.goto(`${UI}?q=nothing-has-this-name`);
    await page.getByText('Nothing matches this search.').waitFor();
    await accessible(page, 'an empty result');
    await page.goto(`${UI}upload`);
    await page.locator('.drop').waitFor();
    await accessible(page, 'upload');
  });
}

test('arrow keys move through the grid, of which one place is a tab stop', async ({ page }) => {
  await find(page);
  assert.equal(await page.locator(`${HITS}[tabindex="0"]`).count(), 1);
  await page.locator(HITS).first().focus();
  const at = () => page.evaluate(() => document.activeElement.closest('li').dataset.index);
  await page.keyboard.press('ArrowRight');
  assert.equal(await at(), '1');
  await page.keyboard.press('End');
  // The focus is on no card until the last rows are drawn.
  await page.waitForFunction(() => {
    const card = document.activeElement.closest('li');
    return card !== null && card.ariaSetSize === String(Number(card.dataset.index) + 1);
  });
  await page.keyboard.press('Home');
  await page.waitForFunction(() => document.activeElement.closest('li')?.dataset.index === '0');
});

test('a model is drawn, turns by the arrow keys, and axe has nothing serious to say', async ({
  page,
}) => {
  await find(page, '?q=lamp');
  await page.locator(HITS).first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  assert.ok((await filled(page)) > 0.01, 'over 1 % of the canvas is drawn');
  const canvas = page.locator('.stage canvas');
  await canvas.focus();
  const front = await canvas.screenshot();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.ok(!front.equals(await canvas.screenshot()));
  for (const name of ['Wireframe', 'Normals', 'Size', 'Section']) {
    await page.getByRole('button', { name }).click();
  }
  await accessible(page, 'asset');
});

test('a model of turned parts measures what its facts say', async ({ page }) => {
  await find(page, '?q=robot-arm');
  await page.locator(HITS).first().click();
  await page.locator('.model[data-state=shown]').waitFor();
  await page.getByRole('button', { name: 'Size' }).click();
  const numbers = async (text) => (await text.textContent()).match(/[\d.]+/g);
  const facts = page
    .locator('dt', { hasText: 'Dimensions' })
    .locator('xpath=following-sibling::dd[1]');
  assert.deepEqual(await numbers(page.locator('.measures')), await numbers(facts));
});

test('hostile files are uploaded and looked at, and run nothing and reach nothing', async ({
  page,
}) => {
  const script =
    '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>';
  const data = `data:application/octet-stream;base64,${CORNERS.toString('base64')}`;
  const files = [
    ['a.gltf', triangle(data, ['http://192.0.2.1/spy.png'])],
    ['picture.svg', script],
    ['page.html', '<script>alert(1)</script><img src=x onerror=alert(1)>'],
    ["'-alert(1)-'.txt", '\u202e<b>text</b>'],
    ['😀 %2e%2e &lt;b&gt;.txt', 'x'],
    ['empty.txt', ''],
  ];
  const name = `walk ${Date.now()} '"&amp;`.replaceAll('"', '');
  const chosen = files.map(([path, text]) => file(path, text));
  const upload = await chooseFiles(page, chosen, name, '<img src=x onerror=alert(1)>');
  await upload.click();
  await page.getByText('The upload is complete.').waitFor();
  await accessible(page, 'an upload');
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.model[data-state=shown]').waitFor();
  await page.getByText('http://192.0.2.1/spy.png', { exact: true }).waitFor();
  for (const [path] of files.slice(1)) {
    await page
      .locator('.tree .file', { hasText: path.slice(0, 8) })
      .first()
      .click();
    await page.waitForTimeout(300);
  }
  await page.locator('.stage .note, .stage .text').first().waitFor();
  await page.goto(`${UI}?q=${encodeURIComponent('walk')}`);
  await page.locator(HITS).first().waitFor();
});

test('the page works at 360 px without scrolling sideways', async ({ open }) => {
  const { page } = await open({ viewport: { width: 360, height: 740 } });
  await withKey(page);
  for (const path of ['', 'upload', '?view="list"']) {
    await page.goto(UI + path);
    await page.locator(`${HITS}, .drop`).first().waitFor();
    await fits(page);
    const room = await page.locator('.search input').evaluate((box) => {
      const { font, paddingLeft, paddingRight } = getComputedStyle(box);
      const drawn = document.createElement('canvas').getContext('2d');
      drawn.font = font;
      const inner = box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
      return inner - drawn.measureText(box.placeholder).width;
    });
    assert.ok(room >= 0, `the placeholder is ${-room} px longer than its box`);
    await accessible(page, `${path || 'find'} at 360 px`);
  }
  // The stage is above the files: the chosen file scrolls into view.
  await page.goto(`${UI}?q=house`);
  await page.locator(HITS, { hasText: /^house$/ }).click();
  await page.locator('.tree .file', { hasText: 'plan.png' }).click();
  await page.locator('.stage img[alt="plan.png"]').waitFor();
  const top = await page
    .locator('.stage')
    .evaluate((element) => element.getBoundingClientRect().top);
  assert.ok(top > 0 && top < 200, `the stage is at ${top} px`);
});
