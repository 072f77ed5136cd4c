/** Each layer may import from itself and from those before it. */
const LAYERS = [
  'src/(texts|api|session)/',
  'src/ui/',
  'src/viewer/',
  'src/pages/',
  'src/router[.]',
];

const upwards = LAYERS.slice(0, -1).map((layer, at) => ({
  name: `nothing-upwards-${at + 1}`,
  comment: 'texts, api, session → ui → viewer → pages → router: move the code to a lower layer.',
  severity: 'error',
  from: { path: `^${layer}` },
  to: { path: `^(${[...LAYERS.slice(at + 1), 'src/main[.]'].join('|')})` },
}));

export default {
  forbidden: [
    {
      name: 'no-circle',
      comment: 'Move what both modules need into a module of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...upwards,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Imports of types count, too.
    tsPreCompilationDeps: true,
  },
};
