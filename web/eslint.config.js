import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';

const PAGE =
  'DataTransfer IntersectionObserver OffscreenCanvas addEventListener createImageBitmap document ' +
  'getComputedStyle localStorage location requestAnimationFrame scrollY sessionStorage ' +
  'visualViewport window';

export default tseslint.config(
  { ignores: ['dist', 'node_modules', 'e2e/node_modules', 'e2e/out', 'src/api/schema.d.ts'] },
  {
    files: ['src/**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, hooks.configs.flat['recommended-latest']],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      'max-lines': ['error', 300],
      'no-restricted-properties': [
        'error',
        { property: 'dangerouslySetInnerHTML', message: 'Texts of users are never markup.' },
        { property: 'innerHTML', message: 'Texts of users are never markup.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
          message: 'Texts of users are never markup.',
        },
      ],
      'no-restricted-globals': ['error', 'localStorage', 'eval'],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
    },
  },
  {
    // The id of the session, which all tabs of a browser share; nothing of users is kept there.
    files: ['src/session/session*', 'src/testing/*'],
    rules: { 'no-restricted-globals': ['error', 'eval'] },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    ignores: ['src/**/*.test.{ts,tsx}'],
    rules: { 'max-lines-per-function': ['error', 80] },
  },
  // A language is one file, which grows with the page.
  { files: ['src/texts/*.ts'], rules: { 'max-lines': 'off' } },
  {
    files: ['**/*.{js,mjs}', '*.config.ts'],
    extends: [tseslint.configs.recommended],
    // Scripts run in Node, and what walks evaluate runs in the page.
    languageOptions: {
      globals: Object.fromEntries(
        [...Object.getOwnPropertyNames(globalThis), ...PAGE.split(' ')].map((name) => [
          name,
          'readonly',
        ]),
      ),
    },
    rules: {
      'max-lines': ['error', 300],
      'no-redeclare': ['error', { builtinGlobals: false }],
      'no-undef': 'error',
    },
  },
);
