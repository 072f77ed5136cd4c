// Working on a model: measuring, sections, links with a view, and two models side by side.
import assert from 'node:assert/strict';
import { countActs } from './acts.mjs';
import { test } from './fixtures.mjs';
import { accessible, file, fits, newAsset, savedPicture, UI } from './walk.mjs';

/** The triangles of a box, whose corners are numbered by their sides. */
const SIDES = '062 046 137 175 015 054 273 267 031 023 457 476';

/** A closed box from the origin, in metres, or a row of them, as a glTF without other files. */
function box(width, height, depth, count = 1) {
  const corners = [...Array(8).keys()].flatMap((at) => [
    at & 1 ? width : 0,
    at & 2 ? height : 0,
    at & 4 ? depth : 0,
  ]);
  const indices = [...SIDES.replaceAll(' ', '')].map(Number);
  const buffer = Buffer.concat([
    Buffer.from(new Float32Array(corners).buffer),
    Buffer.from(new Uint16Array(indices).buffer),
  ]);
  return JSON.stringify({
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [...Array(count).keys()] }],
    nodes: Array.from({ length: count }, (_, at) => ({ mesh: 0, translation: [at * 3, 0, 0] })),
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1 }] }],
    buffers: [
      {
        byteLength: buffer.length,
        uri: `data:application/octet-stream;base64,${buffer.toString('base64')}`,
      },
    ],
    bufferViews: [
      { buffer: 0, byteLength: 96 },
      { buffer: 0, byteOffset: 96, byteLength: 72 },
    ],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: 8,
        type: 'VEC3',
        min: [0, 0, 0],
        max: [width, height, depth],
      },
      { bufferView: 1, componentType: 5123, count: 36, type: 'SCALAR' },
    ],
  });
}

/** A camera before the box, whose front is drawn where `pixel` says. */
const VIEW = 'c1_0.5_6_1_0.5_0';
const FRONT = 1;

/** Where a corner of the front is on the canvas. */
async function pixel(page, x, y) {
  const { width, height } = await page.locator('.stage canvas').boundingBox();
  const scale = height / 2 / Math.tan((35 * Math.PI) / 360) / (6 - FRONT);
  return { x: width / 2 + (x - 1) * scale, y: height / 2 - (y - 0.5) * scale };
}

async function shown(page, address) {
  await page.goto(address);
  await page.locator('.model[data-state=shown]').waitFor();
}

/** How much of the saved picture has the colour of what a section closes. */
async function closed(page) {
  const data = await savedPicture(page, 100);
  let orange = 0;
  for (let at = 0; at < data.length; at += 4)
    orange += data[at + 3] > 250 && data[at] > 180 && data[at + 2] < 90 ? 1 : 0;
  return orange / (data.length / 4);
}

const openings = [
  { viewport: { width: 360, height: 860 }, colorScheme: 'dark' },
  { viewport: { width: 1920, height: 1080 }, colorScheme: 'light' },
];
for (const opening of openings) {
  test(`corners are measured, and a section is grabbed, at ${opening.viewport.width} px`, async ({
    open,
  }) => {
    const { page } = await open(opening);
    const { database, id } = await newAsset(page, [file('box.gltf', box(2, 1, FRONT))], 'a box');
    await shown(page, `${UI}databases/${database}/assets/${id}?file=/box.gltf&camera=${VIEW}`);
    const acts = countActs(page);
    const canvas = page.locator('.stage canvas');
    const [drawn, tools] = [await canvas.boundingBox(), page.locator('.stage .tools')];
    assert.ok(drawn.y + drawn.height <= (await tools.boundingBox()).y, 'the tools cover nothing');
    await acts.click('button', 'Measure');
    await page.getByText('Click two places.').waitFor();
    await acts.point(canvas, await pixel(page, 0, 1));
    await page.getByText('Point 1: corner').waitFor();
    await acts.point(canvas, await pixel(page, 2, 1));
    await page.getByText('Distance 2 m, along x 2 m, y 0 m, z 0 m').waitFor();
    acts.end('Measure between two corners');
    await accessible(page, 'a measured model');
    await fits(page);
    await page.getByLabel('What is measured').selectOption('Angle');
    for (const [x, y] of [
      [0, 1],
      [0, 0],
      [2, 0],
    ])
      await acts.point(canvas, await pixel(page, x, y));
    await page.getByText('Angle 90°').waitFor();
    await page.getByRole('button', { name: 'Measure', exact: true }).click();

    await page.getByRole('button', { name: 'Section' }).click();
    await page.getByLabel('Axis of the section').selectOption('z');
    const [before, at] = [await closed(page), await page.locator('.stage .grip').boundingBox()];
    assert.ok(before > 0.05, `${before} of the picture is closed`);
    await page.getByLabel('Axis of the section').selectOption('x');
    const grip = page.locator('.stage .grip');
    const { x, y, width } = await grip.boundingBox();
    assert.ok(Math.abs(x - at.x) < 40, 'both planes go through the middle of the box');
    await page.mouse.move(x + width / 2, y + width / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 2 - 30, y + width / 2, { steps: 3 });
    await page.mouse.up();
    assert.ok(Number(await page.getByLabel('Position of the section').inputValue()) < 0.5);
    assert.ok((await grip.boundingBox()).x < x - 20, 'the grip follows the pointer');
    await accessible(page, 'a section');
    await fits(page);
  });
}

test('a link leads to a model as it is seen', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await newAsset(page, [file('box.gltf', box(2, 1, FRONT))], 'a linked box');
  await page.locator('.model[data-state=shown]').waitFor();
  await page.getByRole('button', { name: 'Section' }).click();
  await page.getByLabel('Axis of the section').selectOption('y');
  await page.locator('.stage canvas').focus();
  for (const key of ['ArrowLeft', 'ArrowUp', '+']) await page.keyboard.press(key);
  const picture = await savedPicture(page, 60);
  const acts = countActs(page);
  await acts.click('button', 'Copy view');
  acts.end('Copy a link with the view');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.length < 2000, `${link.length} characters`);
  await shown(page, link);
  const again = await savedPicture(page, 60);
  const differing = again.filter((value, at) => Math.abs(value - picture[at]) > 24).length;
  assert.ok(differing < again.length / 50, `${differing} of ${again.length} values differ`);
  await shown(page, link.replace(/camera=.*/, 'camera=cat'));
  await page.getByText('The view in the address cannot be read.').waitFor();
});

test('a view that is too long for a link is saved, and deleted', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const files = [file('boxes.gltf', box(2, 1, FRONT, 1500))];
  const { database, id } = await newAsset(page, files, 'many boxes');
  const hidden = Array.from({ length: 600 }, (_, at) => 2 * at);
  const view = `c6_0.5_12_6_0.5_0~h1500_${hidden.join('_')}`;
  await shown(page, `${UI}databases/${database}/assets/${id}?file=/boxes.gltf&camera=${view}`);
  const picture = await savedPicture(page, 60);
  await page.getByRole('button', { name: 'Copy view' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Every other box');
  await accessible(page, 'saving a view');
  await page.getByRole('button', { name: 'Save and copy link' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(link, /view=[0-9a-f]{32}$/);
  await shown(page, link);
  assert.deepEqual(await savedPicture(page, 60), picture);
  await page.getByRole('button', { name: 'Saved views' }).click();
  await page.locator('.views img').evaluate((image) => image.decode());
  await accessible(page, 'saved views');
  await fits(page);
  await page.getByRole('button', { name: 'Delete the view Every other box' }).click();
  await accessible(page, 'deleting a view');
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('This asset has no saved views.').waitFor();
  await shown(page, link);
  await page.getByText('The saved view is not shown:').waitFor();
});

test('two contents of a model, and two models, turn together', async ({ open }) => {
  const { page } = await open(openings[0]);
  const name = `compared ${Date.now()}`;
  const { database, id } = await newAsset(page, [file('box.gltf', box(2, 1, 1))], name);
  const url = `${UI}databases/${database}/assets/${id}`;
  await page.getByRole('heading', { name: 'Versions' }).click();
  await page.getByRole('button', { name: 'Create a version' }).click();
  await page.getByRole('dialog').getByLabel('Comment').fill('first');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByRole('link', { name: 'Version 1', exact: true }).waitFor();
  await page.goto(`${UI}upload?database=${database}&asset=${id}`);
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles([file('box.gltf', box(2, 3, 1))]);
  await page.getByRole('button', { name: 'Upload 1 file' }).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.goto(url);
  const acts = countActs(page);
  await acts.click('heading', 'Versions');
  await acts.click('button', 'Compare');
  await acts.click('link', /^Side by side/, page.getByRole('dialog'));
  await page.locator('.sides section:nth-child(2) .model[data-state=shown]').waitFor();
  await page.locator('.sides section:nth-child(1) .model[data-state=shown]').waitFor();
  acts.end('Compare two models');
  await accessible(page, 'two models');
  await fits(page);
  const right = page.locator('.sides section:nth-child(2) canvas');
  const front = await right.screenshot();
  await page.locator('.sides section:nth-child(1) canvas').focus();
  for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowLeft');
  await page.waitForTimeout(500);
  assert.ok(!front.equals(await right.screenshot()), 'the other model turns, too');

  await page.goto(`${UI}?q=gear`);
  const boxes = page.locator('.card input.select');
  for (const at of [0, 1]) await acts.check(boxes.nth(at));
  await acts.click('link', 'Side by side');
  await page.locator('.sides section:nth-child(2) .model[data-state=shown]').waitFor();
  acts.end('Compare two models');
});

test('memory is free again after models were opened and left', async ({ page }) => {
  test.slow(); // fifty models, each drawn without a graphics card
  const { database, id } = await newAsset(
    page,
    [file('box.gltf', box(2, 1, 1)), file('a.txt')],
    'b',
  );
  const url = `${UI}databases/${database}/assets/${id}`;
  await shown(page, `${url}?file=/box.gltf`);
  const session = await page.context().newCDPSession(page);
  const heap = async () => {
    await session.send('HeapProfiler.collectGarbage');
    return (await session.send('Runtime.getHeapUsage')).usedSize;
  };
  const look = async () => {
    await page.locator('.tree .file', { hasText: 'box.gltf' }).click();
    await page.locator('.model[data-state=shown]').waitFor();
    await page.getByRole('button', { name: 'Measure', exact: true }).click();
    await page.locator('.stage canvas').click();
    await page.getByRole('button', { name: 'Section' }).click();
    await page.locator('.tree .file', { hasText: 'a.txt' }).click();
    await page.locator('.stage .text').waitFor();
  };
  for (let times = 0; times < 10; times++) await look();
  const early = await heap();
  for (let times = 0; times < 40; times++) await look();
  const late = await heap();
  assert.ok(late < 1.2 * early, `${late} bytes after 50, ${early} after 10`);
});
