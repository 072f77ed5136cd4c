import { defineConfig, mergeConfig } from 'vitest/config';
import page from './vite.config';

// Apart from the page's own, because `make run` builds the page without the packages of its tests.
export default mergeConfig(
  page,
  defineConfig({
    test: {
      // A busy machine takes longer than the 5 s of the default.
      testTimeout: 60_000,
      silent: 'passed-only',
      projects: [
        {
          extends: true,
          test: { name: 'logic', include: ['src/**/*.test.ts'], environment: 'node' },
        },
        {
          extends: true,
          test: {
            name: 'components',
            include: ['src/**/*.component.test.tsx'],
            environment: 'jsdom',
            environmentOptions: { jsdom: { url: 'http://vitrine.test/ui/' } },
            setupFiles: ['src/testing/setup.ts'],
          },
        },
      ],
    },
  }),
);
