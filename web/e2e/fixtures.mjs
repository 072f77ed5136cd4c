// What every walk opens, watches and closes.
import assert from 'node:assert/strict';
import { test as base } from '@playwright/test';
import { open as openPage } from './walk.mjs';

export const test = base.extend({
  /** Other origins that a walk may reach. */
  allowedOrigins: [[], { option: true }],

  /** Opens a page in a context of its own. At the end none has failed or reached another origin. */
  open: async ({ browser, allowedOrigins }, use) => {
    const opened = [];
    await use(async (options) => {
      opened.push(await openPage(browser, options));
      return opened.at(-1);
    });
    for (const { context, page, seen } of opened) {
      // A walk may end before replies that it delays.
      if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
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
