// Point clouds and drawings without colours of their own: what shows their shape.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, NARROW_AND_DARK, newAsset, savedPicture } from './walk.mjs';

/** A hill of points in a grid, as a PLY file without colours. */
function hill(side = 60) {
  const points = [];
  for (let x = 0; x < side; x++) {
    for (let z = 0; z < side; z++) {
      const y = 20 * Math.exp(-((x - side / 2) ** 2 + (z - side / 2) ** 2) / 150);
      points.push(`${x} ${y.toFixed(3)} ${z}`);
    }
  }
  const axes = ['x', 'y', 'z'].map((axis) => `property float ${axis}`);
  const head = ['ply', 'format ascii 1.0', `element vertex ${points.length}`, ...axes];
  return [...head, 'end_header', ...points, ''].join('\n');
}

/** The colours on the stage: their number, and how much of what is drawn is white. */
const drawn = async (page) => {
  const data = await savedPicture(page, 200);
  const hues = new Set();
  let [all, white] = [0, 0];
  for (let at = 0; at < data.length; at += 4) {
    if (data[at + 3] < 250) continue;
    const [red, green, blue] = data.slice(at, at + 3);
    all += 1;
    white += Math.min(red, green, blue) > 190 ? 1 : 0;
    hues.add([red, green, blue].map((channel) => channel >> 6).join());
  }
  return { all, white: white / all, hues: hues.size };
};

test('a cloud without colours is coloured by its height', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const name = `hill ${Date.now()}`;
  await newAsset(page, [file('hill.ply', hill())], name, 'points only', 'library');
  await page.locator('.model[data-state=shown]').waitFor();
  const { all, white, hues } = await drawn(page);
  assert.ok(all > 400, `${all} pixels are drawn`);
  assert.ok(white < 0.02, `${white} of the pixels are white`);
  assert.ok(hues >= 4, `${hues} colours`);
  await accessible(page, 'a point cloud');
});
