// Before an upload: what is already in the target is named, and left out where it is the same.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, endpoint, file, fits, NARROW_AND_DARK, newAsset, UI } from './walk.mjs';

const rows = (page) => page.locator('.files li');
const row = (page, name) => rows(page).filter({ hasText: name });
const choose = (page, files) => page.locator('input[type=file]').first().setInputFiles(files);
const sentence = (page) =>
  page.getByRole('group', { name: 'What is already there' }).getByRole('status');

/** Counts the contents that are sent to the storage. */
function sent(page) {
  const paths = [];
  page.on('request', (request) => {
    if (request.method() === 'PUT' && request.url().startsWith(endpoint.s3))
      paths.push(request.url());
  });
  return paths;
}

test('files that are there already are named before they are sent', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const before = [file('a.txt', 'same'), file('b.txt', 'before'), file('c.txt', 'now')];
  const { database, id } = await newAsset(page, before, `compared ${Date.now()}`);
  await page.goto(`${UI}upload?database=${database}&asset=${id}`);
  const puts = sent(page);
  await choose(page, [
    file('a.txt', 'same'),
    file('b.txt', 'behind'), // as long as the one that is there
    file('c.txt', 'later'),
    file('d.txt', 'new'),
  ]);
  await row(page, 'a.txt').getByText('already there, same content, left out').waitFor();
  await row(page, 'b.txt').getByText('replaces the present version').waitFor();
  await row(page, 'c.txt').getByText('replaces the present version').waitFor();
  await row(page, 'd.txt').getByText('new', { exact: true }).waitFor();
  assert.equal(
    await sentence(page).textContent(),
    '1 is new, 2 replace the present version, and 1 is already there with the same content (SHA-256).',
  );
  await fits(page);
  await accessible(page, 'files that are compared with the target');
  // Kept by the keyboard, and left out again.
  const leave = page.getByLabel('Leave out the file that is already there');
  await leave.focus();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Upload 4 files' }).waitFor();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Upload 3 files' }).press('Enter');
  await page.getByText('The upload is complete.').waitFor();
  assert.equal(puts.length, 3);
});

test('thousands of files are compared with thousands, on all pages of the list, and nothing freezes', async ({
  page,
}) => {
  const { database, id } = await newAsset(page, [file('first.txt')], `many ${Date.now()}`);
  const of = (at) => ({ fileName: `${at}.txt`, relativePath: `/${at}.txt`, size: 1 + (at % 2) });
  await page.route('**/listFiles?**', (route) => {
    const start = Number(new URL(route.request().url()).searchParams.get('startingToken') ?? 0);
    const items = Array.from({ length: 1000 }, (_, at) => ({ ...of(start + at), isFolder: false }));
    return route.fulfill({
      json: { items, NextToken: start < 2000 ? String(start + 1000) : null },
    });
  });
  // As files of imported buckets, these have no checksum.
  await page.route('**/fileInfo?**', (route) => route.fulfill({ json: { checksumSha256: null } }));
  await page.goto(`${UI}upload?database=${database}&asset=${id}`);
  await page.locator('.drop').waitFor();
  await page.evaluate(() => {
    const transfer = new DataTransfer();
    for (let at = 0; at < 4000; at++) transfer.items.add(new File(['x'], `${at}.txt`));
    const picker = document.querySelector('input[type=file]');
    picker.files = transfer.files;
    globalThis.longest = 0;
    let before = performance.now();
    const beat = () => {
      const now = performance.now();
      globalThis.longest = Math.max(globalThis.longest, now - before);
      before = now;
      setTimeout(beat, 10);
    };
    beat();
    picker.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await page
    .getByText(
      /^1,000 are new, 1,500 replace the present version, and 1,500 have the path and size of a file/,
    )
    .waitFor();
  const longest = await page.evaluate(() => globalThis.longest);
  assert.ok(longest < 1500, `the page stood still for ${longest} ms`);
  assert.equal(await rows(page).count(), 200);
  assert.equal(await page.getByRole('button', { name: 'Upload 4,000 files' }).count(), 1);
  await page.getByLabel('Leave out the 1,500 files that have the path and size').check();
  await page.getByRole('button', { name: 'Upload 2,500 files' }).waitFor();
});
