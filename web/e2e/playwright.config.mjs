import { defineConfig } from '@playwright/test';
import { launchOptions } from './browser.mjs';

export default defineConfig({
  testMatch: '*.test.mjs',
  // All walks use one runtime.
  workers: 1,
  timeout: 240_000,
  reporter: 'list',
  outputDir: '../../build/web-traces',
  use: {
    launchOptions: await launchOptions(),
    // Pictures of each frame would take the processors from the viewer, which has no graphics card.
    trace: { mode: 'retain-on-failure', screenshots: false, snapshots: true, sources: true },
  },
});
