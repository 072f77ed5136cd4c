// What every walk watches: scripts that fail, requests to other origins, reports of the policy.
import { execFileSync } from 'node:child_process';
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const endpoint = JSON.parse(readFileSync(process.env.VITRINE_ENDPOINT, 'utf8'));
export const UI = `${endpoint.api}/ui/`;

/** The value of `q` that finds a name as a phrase: addresses have values as JSON. */
export const quoted = (name) => encodeURIComponent(JSON.stringify(`"${name}"`));
export const HITS = '.hits li a';
const PATIENCE = Number(process.env.PATIENCE ?? 60_000);
const CLIENT = process.env.VITRINE_CLIENT ?? '.venv/bin/vitrine';

/** Runs the command line, and returns what it prints. */
export const vitrine = (...options) => execFileSync(CLIENT, options, { encoding: 'utf8' });

export const SCRATCH = process.env.VITRINE_SCRATCH ?? '/tmp';

/** A folder on the disk with a file, and one in a folder below. */
export function newFolder(name) {
  const path = join(SCRATCH, name);
  mkdirSync(join(path, 'plans'), { recursive: true });
  writeFileSync(join(path, 'a.txt'), 'a');
  writeFileSync(join(path, 'plans', 'b.txt'), 'b');
  return path;
}

/** Drags files and folders onto the window, as the desktop does; they are dropped by the result. */
export async function drag(page, paths, { x = 200, y = 300 } = {}) {
  const client = await page.context().newCDPSession(page);
  const at = { x, y, data: { items: [], files: paths, dragOperationsMask: 1 } };
  const send = (type) => client.send('Input.dispatchDragEvent', { type, ...at });
  await send('dragEnter');
  await send('dragOver');
  // A drop before the page has taken note of it would be that on a page that takes none.
  await page.locator('.drop-here, .drop.over').waitFor();
  return () => send('drop');
}

/** A file for a picker. */
export const file = (name, content = 'x') => ({ name, mimeType: '', buffer: Buffer.from(content) });

export const CORNERS = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer);

/** A glTF with a triangle, whose corners are at an address, and textures at others. */
export const triangle = (corners, images) =>
  JSON.stringify({
    asset: { version: '2.0' },
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, material: 0 }] }],
    materials: [{ pbrMetallicRoughness: { baseColorTexture: { index: 0 } } }],
    textures: images.map((_, source) => ({ source })),
    images: images.map((uri) => ({ uri })),
    buffers: [{ byteLength: 36, uri: corners }],
    bufferViews: [{ buffer: 0, byteLength: 36 }],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: 3,
        type: 'VEC3',
        min: [0, 0, 0],
        max: [1, 1, 0],
      },
    ],
  });

export function newLink() {
  const command = process.env.VITRINE_LINK.split(' ');
  return execFileSync(command[0], command.slice(1), { encoding: 'utf8' }).trim();
}

export async function open(browser, options = {}) {
  // Without one, the browser makes of POSIX a language tag that Intl refuses.
  const defaults = { viewport: { width: 1280, height: 860 }, locale: 'en-US' };
  const context = await browser.newContext({ ...defaults, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const seen = { problems: [], foreign: [], pictures: 0, api: 0 };
  const own = [new URL(endpoint.api).origin, new URL(endpoint.s3).origin];
  page.on('pageerror', (error) => seen.problems.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    seen.problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy|violates/i.test(message.text()))
      seen.problems.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (/^(blob|data):/.test(url)) return;
    const { origin, pathname } = new URL(url);
    if (!own.includes(origin)) seen.foreign.push(url);
    else if (origin === own[1] && request.resourceType() === 'image') seen.pictures += 1;
    else if (origin === own[0] && !pathname.startsWith('/ui/')) seen.api += 1;
  });
  return { context, page, seen };
}

/** The name of the gateway's cookie; a browser that takes it sends that of the trial. */
export const COOKIE = `__Host-vitrine-${new URL(endpoint.api).port}`;
export const TRIAL = `${COOKIE}-trial=1`;

/** Begins a session for a key; returns its reply, and its cookie as a browser is given it. */
export async function beginSession(key) {
  const headers = { authorization: key, cookie: TRIAL };
  const reply = await fetch(`${endpoint.api}/auth/session`, { method: 'POST', headers });
  assert.equal(reply.status, 200, 'a session begins');
  const [pair] = reply.headers.get('set-cookie').split(';');
  const [name, value] = pair.split('=');
  // Playwright sets a cookie with the prefix for https only; the browser sends it to both.
  const url = endpoint.api.replace('http:', 'https:');
  const attributes = { url, httpOnly: true, secure: true, sameSite: 'Strict' };
  return { ...(await reply.json()), cookie: { name, value, ...attributes } };
}

const signedIn = new WeakSet();

/** Signs the browser of a page in, once: a walk may sign in as another user afterwards. */
export async function withKey(page, key = endpoint.adminApiKey) {
  const context = page.context();
  if (signedIn.has(context)) return;
  signedIn.add(context);
  const { sessionId: id, userId: user, cookie } = await beginSession(key);
  await context.addCookies([cookie]);
  await context.addInitScript(
    (value) => {
      if (localStorage.getItem('walk.signed-in')) return;
      localStorage.setItem('walk.signed-in', '1');
      localStorage.setItem('vitrine.session', value);
    },
    JSON.stringify({ id, user, byProvider: false }),
  );
}

/** Opens the page of uploads with files for a new asset, and returns the button that sends them. */
export async function chooseFiles(page, files, name, description = 'a walk', database = 'library') {
  await withKey(page);
  await page.goto(`${UI}upload`);
  await page.locator('input[type=file]').first().setInputFiles(files);
  await page.getByLabel('Database', { exact: true }).selectOption(database);
  await page.getByLabel('Name of the asset').fill(name);
  await page.getByLabel('Description').fill(description);
  return page.getByRole('button', { name: /^Upload \d+ files?$/ });
}

/** Uploads files into a new asset, opens it, and returns where it is. */
export async function newAsset(page, files, name, description, target) {
  await (await chooseFiles(page, files, name, description, target)).click();
  await page.getByText('The upload is complete.').waitFor();
  await page.getByRole('link', { name: 'Open the asset' }).click();
  await page.locator('.asset .tree .file').first().waitFor();
  const [, database, id] = /databases\/([^/]+)\/assets\/([^/?]+)/.exec(page.url());
  return { database, id };
}

export const NARROW_AND_DARK = { viewport: { width: 360, height: 860 }, colorScheme: 'dark' };

/** Fails if the page scrolls sideways. */
export async function fits(page) {
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= page.viewportSize().width, `the page is ${width} px wide`);
}

/** Fails for each finding of axe that is serious or critical. */
export async function accessible(page, name) {
  await page.evaluate(axe);
  const facts = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'],
      elementRef: true,
    });
    const bar = document.querySelector('.bar');
    // Axe measures only the part of a button that has not been scrolled behind the bar.
    const isBehindBar = ({ element }) =>
      bar && !bar.contains(element) && element.getBoundingClientRect().top < bar.clientHeight;
    return violations
      .filter(({ impact }) => /serious|critical/.test(impact))
      .flatMap(({ id, nodes }) =>
        nodes
          .filter((node) => id !== 'target-size' || !isBehindBar(node))
          .map(({ html }) => `${id}: ${html}`),
      );
  });
  assert.deepEqual(facts, [], `axe on ${name}`);
}

/** The pixels of the picture of a model that the page saves, scaled to a square: RGBA. */
export async function savedPicture(page, side) {
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Screenshot', exact: true }).click();
  const png = readFileSync(await (await saving).path(), 'base64');
  return page.evaluate(
    async ([base64, side]) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const context = new OffscreenCanvas(side, side).getContext('2d');
      context.drawImage(picture, 0, 0, side, side);
      return [...context.getImageData(0, 0, side, side).data];
    },
    [png, side],
  );
}

/** How much of the saved picture of a model is drawn on, from 0 to 1. */
export async function filled(page) {
  const alphas = (await savedPicture(page, 100)).filter((_, at) => at % 4 === 3);
  return alphas.filter(Boolean).length / alphas.length;
}

/** Sends a request as the administrator, without the browser's cookies. */
export async function request(method, path, data) {
  const headers = { authorization: endpoint.adminApiKey, 'content-type': 'application/json' };
  const body = JSON.stringify(data);
  const response = await fetch(endpoint.api + path, { method, headers, body });
  assert.ok(response.ok, `${method} ${path}: ${await response.clone().text()}`);
  return response.json();
}

/** Creates a database whose assets have a material of a list, and a mass. */
export async function newDatabaseOfParts(database, isMaterialRequired = false) {
  const [bucket] = (await request('GET', '/buckets')).Items;
  await request('POST', '/database', {
    databaseId: database,
    description: 'of a walk',
    defaultBucketId: bucket.bucketId,
  });
  await request('POST', '/metadataschema', {
    databaseId: database,
    schemaName: 'Parts',
    metadataSchemaEntityType: 'assetMetadata',
    enabled: true,
    fields: {
      fields: [
        {
          metadataFieldKeyName: 'material',
          metadataFieldValueType: 'inline_controlled_list',
          controlledListKeys: ['brass', 'oak'],
          required: isMaterialRequired,
        },
        { metadataFieldKeyName: 'mass', metadataFieldValueType: 'number' },
      ],
    },
  });
}
