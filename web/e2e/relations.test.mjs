// What an asset consists of, where it is used, what its files lack, and what is like them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { launch } from './browser.mjs';
import { accessible, clean, open, UI, withKey } from './walk.mjs';

const HITS = '.hits li a';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const part = (page, title) => page.getByRole('region', { name: title, exact: true });

for (const colorScheme of ['light', 'dark']) {
  test(`an asset shows what uses it, its parts and similar shapes as pictures (${colorScheme})`, async () => {
    const { context, page, seen } = await open(browser, { colorScheme });
    await withKey(page);
    await page.goto(`${UI}?q=planetary-gear`);
    await page.locator(HITS).first().click();
    await part(page, 'Used in').getByRole('link', { name: 'robot-arm' }).waitFor();
    await part(page, 'Parts').locator('img').nth(3).waitFor();
    await part(page, 'Similar shapes').locator('img').first().waitFor();
    assert.match(await part(page, 'Similar shapes').locator('li').first().innerText(), /\d+\s?%/);
    await accessible(page, 'an asset with relations');
    // A picture opens its asset, whose page leads back.
    await part(page, 'Parts').getByRole('link', { name: 'ring-gear' }).click();
    await page.locator('.asset h1', { hasText: 'ring-gear' }).waitFor();
    await part(page, 'Used in').getByRole('link', { name: 'planetary-gear' }).waitFor();
    clean(seen);
    await context.close();
  });
}

test('a file that another one uses names it, and both lead to each other', async () => {
  const { context, page, seen } = await open(browser);
  await withKey(page);
  await page.goto(`${UI}?q=lamp`);
  await page.locator(HITS, { hasText: /^lamp$/ }).click();
  await part(page, 'Files that it needs').getByRole('link', { name: 'lamp.bin' }).click();
  await part(page, 'Files that use this file').getByRole('link', { name: 'lamp.gltf' }).click();
  await part(page, 'Files that it needs').getByRole('link', { name: 'lamp.bin' }).waitFor();
  clean(seen);
  await context.close();
});

test('files that a new model lacks are named as soon as it is inspected, also at 360 px', async () => {
  const { context, page, seen } = await open(browser, { viewport: { width: 360, height: 740 } });
  await withKey(page);
  await page.goto(`${UI}upload`);
  const missing = '<img src=x onerror=alert(1)>.png';
  const gltf = {
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }],
    textures: [{ source: 0 }, { source: 1 }],
    images: [{ uri: encodeURIComponent(missing) }, { uri: '../outside.png' }],
    buffers: [{ uri: 'a.bin', byteLength: 36 }],
    bufferViews: [{ buffer: 0, byteLength: 36 }],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: 3,
        type: 'VEC3',
        min: [0, 0, 0],
        max: [1, 1, 0],
      },
    ],
  };
  const corners = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer);
  const files = [
    { name: 'a.gltf', mimeType: '', buffer: Buffer.from(JSON.stringify(gltf)) },
    { name: 'a.bin', mimeType: '', buffer: corners },
  ];
  await page.locator('input[type=file]').first().setInputFiles(files);
  await page.getByLabel('Database', { exact: true }).selectOption({ index: 1 });
  await page.getByLabel('Name of the asset').fill(`lacks ${Date.now()}`);
  await page.getByLabel('Description').fill('a walk');
  await page.getByRole('button', { name: /^Upload/ }).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.getByText('2 of these files are missing').waitFor();
  await page.locator('.tree .file', { hasText: 'a.gltf' }).getByText('2 missing').waitFor();
  const lacking = await part(page, 'Files that it needs').locator('.lacking').allInnerTexts();
  assert.ok(
    lacking.some((each) => each.includes(missing)),
    `${lacking}`,
  );
  assert.ok(
    lacking.some((each) => each.includes('outside the asset')),
    `${lacking}`,
  );
  await part(page, 'Files that it needs').getByRole('link', { name: 'a.bin' }).waitFor();
  await part(page, 'Files that it needs')
    .getByRole('link', { name: 'Upload the missing' })
    .waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 360, `the page is ${wide} px wide`);
  await accessible(page, 'a model that lacks files');
  clean(seen);
  await context.close();
});
