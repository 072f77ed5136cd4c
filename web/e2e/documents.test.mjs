// Files of text, tables, sounds and PDFs in their viewers; hostile ones run nothing.
import assert from 'node:assert/strict';
import { test } from './fixtures.mjs';
import { accessible, file, fits, NARROW_AND_DARK, newAsset } from './walk.mjs';

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(1)</script>';
const ROWS = 100_000;
const PAGES = 2_000;

/** A PDF of a page for each text, which tries to run a script when it is opened. */
function pdf(texts) {
  const pages = texts.map((_, at) => 5 + 2 * at);
  const objects = [
    '<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>',
    `<</Type/Pages/Count ${texts.length}/Kids[${pages.map((id) => `${id} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FontMatrix[1 0 0 1 0 (0\\);alert\\(1\\))]>>',
    '<</Type/Annot/Subtype/Link/Rect[0 0 300 300]/A<</S/URI/URI(javascript:alert\\(1\\))>>>>',
    ...texts.flatMap((text, at) => {
      const content = `BT /F1 24 Tf 40 220 Td (${text}) Tj ET`;
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents ${pages[at] + 1} 0 R` +
          '/Annots[4 0 R]/Resources<</Font<</F1 3 0 R>>>>>>',
        `<</Length ${content.length}>>stream\n${content}\nendstream`,
      ];
    }),
  ];
  let body = '%PDF-1.7\n';
  const offsets = objects.map((object, at) => {
    const offset = body.length;
    body += `${at + 1} 0 obj${object}endobj\n`;
    return offset;
  });
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  return `${body}xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF`;
}

/** A second of silence. */
function wav() {
  const samples = 8_000;
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.set([1, 0, 1, 0], 20);
  head.writeUInt32LE(samples, 24);
  head.writeUInt32LE(samples, 28);
  head.set([1, 0, 8, 0], 32);
  head.write('data', 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}

const openFile = async (page, name) => {
  await page.locator('.tree').getByRole('link', { name }).click();
  await page.locator(`.stage[aria-label="${name}"]`).waitFor();
};

test('texts, tables and sounds are shown by their kinds, and run nothing', async ({ open }) => {
  const { page } = await open(NARROW_AND_DARK);
  const rows = Array.from({ length: ROWS }, (_, at) => `${at},"=cmd()${HOSTILE}",row ${at}`);
  const texts = {
    'a.csv': `number,hostile,text\n${rows.join('\n')}\n`,
    'a.json': JSON.stringify({ [HOSTILE]: Array.from({ length: 200 }, (_, at) => at) }),
    'a.md': `# Title\n\n${HOSTILE}\n\n[link](javascript:alert(1)) ![](https://example.org/a.png)\n`,
    'a.py': `# ${HOSTILE}\nprint("hello")\n`,
  };
  const files = Object.entries(texts).map(([name, content]) => file(name, content));
  files.push({ ...file('a.wav'), buffer: wav() });
  await newAsset(page, files, `texts ${Date.now()}`);

  await openFile(page, 'a.csv');
  const table = page.getByRole('table', { name: 'a.csv' });
  await table.getByText('row 0', { exact: true }).waitFor();
  await accessible(page, 'a table');
  await fits(page);
  assert.ok((await table.getByRole('row').count()) < 100, 'few rows are in the document');
  await table.evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await table.getByText(`row ${ROWS - 1}`, { exact: true }).waitFor();

  await openFile(page, 'a.json');
  await page.locator('.stage .hljs-attr').waitFor();
  await accessible(page, 'JSON');
  await openFile(page, 'a.md');
  await page.locator('.stage').getByRole('heading', { name: 'Title' }).waitFor();
  assert.equal(await page.locator('.stage').locator('img, script, a').count(), 0);
  await accessible(page, 'Markdown');
  await fits(page);
  await openFile(page, 'a.py');
  await page.locator('.stage .hljs-string').waitFor();
  await accessible(page, 'code');
  await openFile(page, 'a.wav');
  await page.waitForFunction(() => document.querySelector('.stage audio')?.duration === 1);
  await accessible(page, 'a sound');
});

test('a PDF of 2,000 pages is turned, searched and zoomed, and a broken one is named', async ({
  open,
}) => {
  const { page, seen } = await open(NARROW_AND_DARK);
  const texts = Array.from({ length: PAGES }, (_, at) => `page ${at + 1}`);
  texts[PAGES - 10] = 'a needle';
  const files = [file('a.pdf', pdf(texts)), file('b.pdf', '%PDF-1.7\nnothing')];
  await newAsset(page, files, `papers ${Date.now()}`);
  await openFile(page, 'a.pdf');
  const stage = page.locator('.stage');
  const drawn = stage.locator('.texts');
  await drawn.getByText('page 1', { exact: true }).waitFor();
  const ink = await stage.locator('canvas').evaluate((canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, at) => at % 4 === 0 && value < 100).length;
  });
  assert.ok(ink > 100, `${ink} dark pixels`);
  await accessible(page, 'a PDF');
  await fits(page);
  await stage.getByRole('button', { name: 'Next page' }).click();
  await drawn.getByText('page 2', { exact: true }).waitFor();
  await stage.getByRole('group', { name: 'a.pdf' }).press('PageDown');
  await drawn.getByText('page 3', { exact: true }).waitFor();
  await stage.getByLabel('Page', { exact: true }).fill('1000');
  await page.keyboard.press('Enter');
  await drawn.getByText('page 1000', { exact: true }).waitFor();
  const width = () => stage.locator('.page').evaluate((element) => element.clientWidth);
  const before = await width();
  await stage.getByRole('button', { name: 'Zoom in' }).click();
  await page.waitForFunction(
    (least) => document.querySelector('.stage .page').clientWidth > least,
    before,
  );
  await stage.getByLabel('Find in the document').fill('NEEDLE');
  await page.keyboard.press('Enter');
  await stage.getByText(`Found on page ${(PAGES - 9).toLocaleString('en-US')}.`).waitFor();
  await stage.locator('.found', { hasText: 'a needle' }).waitFor();
  await accessible(page, 'a page that was found');
  await openFile(page, 'b.pdf');
  await stage.getByText('This PDF cannot be read.').waitFor();
  assert.deepEqual(seen.problems, []);
});
