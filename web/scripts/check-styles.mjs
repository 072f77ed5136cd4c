// Fails if a stylesheet of a page or viewer has a rule that does not begin with a class of its root:
// such a rule would style other pages too. Those of the whole page are in src/ui/styles.css.
import { globSync, readFileSync } from 'node:fs';

const ROOTS = {
  'src/pages/access/access.css': ['access', 'access-form'],
  'src/pages/archived/archived.css': ['archived'],
  'src/pages/asset/asset.css': ['asset'],
  'src/pages/compare/compare.css': ['compare'],
  'src/pages/database/database.css': ['database', 'databases'],
  'src/pages/find/find.css': ['find', 'search'],
  'src/pages/find/map.css': ['map'],
  'src/pages/jobs/jobs.css': ['jobs'],
  'src/pages/metadata/sheet.css': ['sheet'],
  'src/pages/saved/saved.css': ['saved'],
  'src/pages/shell/activity.css': ['activity'],
  'src/pages/upload/upload.css': ['upload'],
  'src/viewer/viewer.css': ['stage'],
};

/** The selectors that no other rule contains; conditions such as `@media` are no rules. */
function outerSelectors(css) {
  const selectors = [];
  const open = [];
  for (const [, text, end] of css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .matchAll(/([^{};]*)([{};])/g)) {
    if (end === '}') open.pop();
    if (end !== '{') continue;
    const selector = text.trim();
    const isRule = !selector.startsWith('@');
    if (isRule && !open.some(Boolean)) selectors.push(...selector.split(/,\s*(?![^(]*\))/));
    open.push(isRule);
  }
  return selectors;
}

let failed = false;
for (const path of globSync('src/**/*.css').map((name) => name.replaceAll('\\', '/'))) {
  if (path === 'src/ui/styles.css') continue;
  const roots = ROOTS[path] ?? [];
  for (const selector of outerSelectors(readFileSync(path, 'utf8'))) {
    if (roots.some((root) => new RegExp(`^\\.${root}(?![\\w-])`).test(selector))) continue;
    failed = true;
    console.error(`${path}: “${selector}” does not begin with .${roots.join(' or .') || '?'}`);
  }
}
process.exit(failed ? 1 : 0);
