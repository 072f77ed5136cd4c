import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { withOriginOf } from './src/devServer';

const modules = fileURLToPath(new URL('node_modules', import.meta.url));
const DRACO = ['draco_wasm_wrapper.js', 'draco_decoder.wasm'];
const PDF = ['cmaps', 'standard_fonts', 'wasm'];
const IN_PDF = /\.(bcmap|pfb|ttf|wasm)$|^LICENSE/;
const isDecoder = (path: string) => /\/three\/examples\/jsm\/libs\/(draco|basis)\//.test(path);

/** The files that three.js and pdf.js fetch at run time, by their addresses. */
function decoderFiles(): [string, string][] {
  const pdf = join(modules, 'pdfjs-dist');
  const { version } = JSON.parse(readFileSync(join(pdf, 'package.json'), 'utf8')) as Package;
  return [
    ...DRACO.map((name): [string, string] => [
      `decoders/${name}`,
      join(modules, 'three/examples/jsm/libs/draco/gltf', name),
    ]),
    ...PDF.flatMap((folder) =>
      readdirSync(join(pdf, folder))
        // Scripts of documents are never run.
        .filter((name) => IN_PDF.test(name) && !/quickjs/i.test(name))
        // Files in `assets` never change; the edge of a deployment knows the names of all others.
        .map((name): [string, string] => [
          `assets/pdf-${version}/${folder}/${name}`,
          join(pdf, folder, name),
        ]),
    ),
  ];
}

/**
 * Copies these files, which come from the page's own origin.
 *
 * The loaders also name them by URL, so that Vite would emit each once more, and those never used.
 */
function decoders(): Plugin {
  return {
    name: 'decoders',
    apply: 'build',
    generateBundle(_, bundle) {
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === 'asset' && file.originalFileNames.some(isDecoder)) delete bundle[name];
      }
      for (const [name, file] of decoderFiles()) {
        this.emitFile({ type: 'asset', fileName: name, source: readFileSync(file) });
      }
    },
  };
}

/** The service worker of downloads: one script, with the library that it uses. */
const zipWorker: Plugin = {
  name: 'zip-worker',
  apply: 'build',
  generateBundle() {
    const parts = [
      join(modules, 'client-zip/worker.js'),
      fileURLToPath(new URL('src/pages/find/zip.worker.js', import.meta.url)),
    ];
    const source = parts.map((path) => readFileSync(path, 'utf8')).join('\n');
    this.emitFile({ type: 'asset', fileName: 'zip/worker.js', source });
  },
};

/** pdf.js also puts all that it exports into a global value, so that nothing could be left out. */
const unusedPdf: Plugin = {
  name: 'unused-pdf',
  transform: {
    filter: { id: /pdfjs-dist\/build\/pdf\.mjs$/ },
    handler: (code) => code.replace(/^globalThis\.pdfjsLib = \{[^{}]*\};$/m, ''),
  },
};

/** A chunk of its own, whose size `make web-size` limits. */
const lazPerf = { groups: [{ name: 'laz-perf', test: /\/laz-perf\// }] };

/** Small lazy parts that are used together: each would be a chunk below 3 kB. */
const families = {
  results: 'AssetRow|ListHeads|QuickLook|ActiveFilters',
  dialogs: '(Columns|Export|Shortcuts)Dialog',
  databases: 'DatabasesPage|NewDatabaseDialog',
  saved: 'SavedPage|SaveSearchDialog',
  texts: 'TextView|TableView',
  earlier: 'EarlierContent|OldVersion|FileVersionsDialog',
};

/**
 * What the page starts with is one chunk; what lazy parts share has at least 3 kB of source.
 *
 * A higher threshold merges what the viewer shares: beyond its budget, or into the largest texts.
 */
const groups = [
  { name: 'start', tags: ['$initial' as const], priority: 2 },
  {
    name: 'shared',
    test: /\/web\/src\//,
    minShareCount: 2,
    entriesAware: true,
    entriesAwareMergeThreshold: 3000,
    priority: 1,
  },
  ...Object.entries(families).map(([name, files]) => ({
    name,
    test: new RegExp(`/(${files})\\.tsx$`),
  })),
];

interface Package {
  version: string;
}

const gateway = process.env.VITRINE_GATEWAY ?? 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/ui/',
  plugins: [react(), decoders(), zipWorker, unusedPdf],
  build: {
    // Styles and scripts in data: addresses would be refused by the page's own policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 3000,
    target: 'es2022',
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  worker: { format: 'es', rolldownOptions: { output: { codeSplitting: lazPerf } } },
  server: {
    host: '127.0.0.1',
    proxy: {
      '^/(?!ui/(?!once$))': {
        target: gateway,
        changeOrigin: true,
        configure: (proxy) => {
          proxy.on('proxyReq', withOriginOf(gateway));
        },
      },
    },
  },
});
