// Tasks of the table in web/README.md, and the acts that each takes at most.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { drag } from './walk.mjs';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const table = readme.slice(readme.indexOf('## Tasks'));
const MOST = new Map(
  [...table.matchAll(/^\| (.+?) +\| +(\d+) +\|$/gm)].map(([, task, acts]) => [task, Number(acts)]),
);

/** Counts clicks, keys and drags, and compares them with the table. */
export function countActs(page) {
  let acts = 0;
  return {
    click: async (role, name, inside = page) => {
      acts += 1;
      await inside.getByRole(role, { name, exact: typeof name === 'string' }).click();
    },
    press: async (key) => {
      acts += 1;
      await page.keyboard.press(key);
    },
    /** Clicks a place of a canvas. */
    point: async (canvas, position) => {
      acts += 1;
      await canvas.click({ position });
    },
    check: async (box) => {
      acts += 1;
      await box.check();
    },
    drag: async (from, to) => {
      acts += 1;
      await from.dragTo(to);
    },
    /** Drops files of the disk on a place of the page. */
    drop: async (paths, on) => {
      acts += 1;
      const box = await on?.boundingBox();
      await (
        await drag(page, paths, box && { x: box.x + box.width / 2, y: box.y + box.height / 2 })
      )();
    },
    select: async (label, option) => {
      acts += 1;
      await page.getByRole('combobox', { name: label, exact: true }).selectOption(option);
    },
    end: (task) => {
      assert.ok(MOST.has(task), `the table has no task “${task}”`);
      assert.ok(acts <= MOST.get(task), `“${task}” took ${acts} acts`);
      acts = 0;
    },
  };
}
