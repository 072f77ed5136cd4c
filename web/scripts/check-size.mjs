// Fails if the built page is larger than its budgets; sizes are of gzipped JavaScript.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const KB = 1000;
const BUDGETS = { first: 150 * KB, route: 120 * KB, viewer: 200 * KB, measuring: 230 * KB };
// Loaded for PDFs, splats and clouds of COPC only.
const BUDGETS_OF = new Map([
  ['PdfView', 130 * KB],
  ['pdf.worker', 380 * KB],
  ['spark', 950 * KB],
  ['copc.worker', 40 * KB],
  ['laz-perf', 30 * KB],
  ['copcCloud', 10 * KB],
  ['ModelView', BUDGETS.viewer],
]);
// A hash has eight characters.
const budgetOf = (name) => BUDGETS_OF.get(name.slice(0, -'-xxxxxxxx.js'.length)) ?? BUDGETS.route;
const dist = new URL('../dist/', import.meta.url).pathname;
const scripts = new Map(
  readdirSync(join(dist, 'assets'))
    .filter((name) => name.endsWith('.js'))
    .map((name) => [name, readFileSync(join(dist, 'assets', name), 'utf8')]),
);
const size = (names) =>
  [...names].reduce((total, name) => total + gzipSync(scripts.get(name), { level: 9 }).length, 0);

/** The scripts that `name` imports before it runs, itself included. */
function closure(name, found = new Set()) {
  if (found.has(name) || !scripts.has(name)) return found;
  found.add(name);
  const statics = /(?:from|import)\s*"\.\/([^"]+\.js)"/g;
  for (const match of scripts.get(name).matchAll(statics)) closure(match[1], found);
  return found;
}

const page = readFileSync(join(dist, 'index.html'), 'utf8');
const first = new Set();
for (const match of page.matchAll(/assets\/([^"]+\.js)"/g)) closure(match[1], first);
const isViewer = (name) => name.startsWith('ModelView-');
const viewer = [...scripts.keys()].filter(isViewer).flatMap((name) => [...closure(name)]);
const rows = [['first load', size(first), BUDGETS.first]];
for (const name of scripts.keys()) {
  if (first.has(name)) continue;
  // What only decoders need is loaded after the viewer.
  const own = [...closure(name)].filter(
    (script) => !first.has(script) && (isViewer(name) || !viewer.includes(script)),
  );
  rows.push([name, size(own), budgetOf(name)]);
}
// It is loaded when someone measures.
const measuring = [...scripts.keys()].filter((name) => name.startsWith('MeasurePanel-'));
const both = [...new Set([...viewer, ...measuring.flatMap((name) => [...closure(name)])])];
const ofBoth = both.filter((name) => !first.has(name));
rows.push(['viewer with measuring', size(ofBoth), BUDGETS.measuring]);
let failed = false;
for (const [name, bytes, budget] of rows) {
  const over = bytes > budget;
  failed ||= over;
  console.log(
    `${(bytes / KB).toFixed(1).padStart(7)} kB of ${budget / KB} kB (${(bytes / budget).toFixed(2)})  ${name}${over ? '  OVER' : ''}`,
  );
}
process.exit(failed ? 1 : 0);
