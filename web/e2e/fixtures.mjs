// What every walk opens, watches and closes.
import assert from 'node:assert/strict';
import { test as base } from '@playwright/test';
import { open as openPage } from './walk.mjs';

/**
 * How much of an element its clipping boxes leave visible, from 0 to 1; the window does not count.
 * A person scrolls a list to see a row of it, but not to see what has popped up from the row.
 */
function visiblePart(element) {
  const scrolls = (node) => /auto|scroll/.test(getComputedStyle(node).overflowY);
  const isInFlow = (node) => !/absolute|fixed/.test(getComputedStyle(node).position);
  let row = element;
  for (let node = element; node && !scrolls(node); node = node.parentElement) {
    if (!isInFlow(node)) row = node.parentElement;
  }
  row.scrollIntoViewIfNeeded(); // as Playwright does: it scrolls the list before the window
  return new Promise((resolve) => {
    const show = ([{ intersectionRatio }], observer) => {
      observer.disconnect();
      resolve(intersectionRatio);
    };
    new IntersectionObserver(show, { rootMargin: '100000px' }).observe(element);
  });
}

const isChecked = Symbol('clicks are checked');

/** Lets every click fail on what is cut off: Playwright would scroll it into view and hide that. */
function checkClicks(page) {
  const locators = Object.getPrototypeOf(page.locator('html'));
  if (locators[isChecked]) return;
  locators[isChecked] = true;
  for (const name of ['check', 'click', 'dblclick', 'tap', 'uncheck']) {
    const act = locators[name];
    locators[name] = async function actWhereVisible(...options) {
      await this.waitFor();
      const part = await this.evaluate(visiblePart);
      assert.ok(part > 0.95, `${this} is cut off: ${Math.round(100 * part)} % of it is visible`);
      return act.apply(this, options);
    };
  }
}

export const test = base.extend({
  /** Other origins that a walk may reach. */
  allowedOrigins: [[], { option: true }],
  /** Whether a walk fails that reaches other ones, or whose page reports a violated policy. */
  watchesOrigins: [true, { option: true }],

  /** Opens a page in a context of its own. At the end none has failed or reached another origin. */
  open: async ({ browser, allowedOrigins, watchesOrigins }, use) => {
    const opened = [];
    await use(async (options) => {
      opened.push(await openPage(browser, options));
      checkClicks(opened.at(-1).page);
      return opened.at(-1);
    });
    for (const { context, page, seen } of opened) {
      // A walk may end before replies that it delays.
      if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
      if (!watchesOrigins) continue;
      assert.deepEqual(seen.problems, []);
      const foreign = seen.foreign.filter((url) => !allowedOrigins.includes(new URL(url).origin));
      assert.deepEqual(foreign, []);
    }
  },

  page: async ({ open }, use) => {
    const { page } = await open();
    await use(page);
  },
  context: ({ page }, use) => use(page.context()),
});
