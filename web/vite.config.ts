import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { withOriginOf } from './src/devServer';

const libraries = fileURLToPath(new URL('node_modules/three/examples/jsm/libs', import.meta.url));
const DECODERS = ['draco/gltf/draco_wasm_wrapper.js', 'draco/gltf/draco_decoder.wasm'];
const isDecoder = (path: string) => /\/three\/examples\/jsm\/libs\/(draco|basis)\//.test(path);

/**
 * Copies the decoders that three.js fetches at run time; they come from the page's own origin.
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
      for (const path of DECODERS) {
        const source = readFileSync(join(libraries, path));
        this.emitFile({ type: 'asset', fileName: `decoders/${basename(path)}`, source });
      }
    },
  };
}

const gateway = process.env.VITRINE_GATEWAY ?? 'http://127.0.0.1:8080';

export default defineConfig({
  base: '/ui/',
  plugins: [react(), decoders()],
  build: {
    // Styles and scripts in data: addresses would be refused by the page's own policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1000,
    target: 'es2022',
  },
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
