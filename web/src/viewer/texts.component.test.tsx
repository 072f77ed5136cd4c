// Files of text in the viewers of their kinds: tables, code, Markdown; and sound.
import { screen, waitFor } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { beforeEach, expect, test, vi } from 'vitest';
import { expectAccessible, openPage } from '../testing/page';
import { ASSET, fileAt, respond } from '../testing/server';

beforeEach(() => {
  // A virtual list shows what fits its element, which has no size without a layout.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(900);
});

async function openFile(path: string, content: string | Uint8Array<ArrayBuffer>) {
  respond('get', `${ASSET}/listFiles`, { items: [fileAt(path)] });
  respond('get', 'storage.test/a.txt', () => new HttpResponse(content));
  await openPage(`/databases/library/assets/x1?file=${path}`);
}

test('a CSV of 100,000 rows is a table, of which some rows are in the document', async () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => `${at},"<script>x</script>, ""${at}"""`);
  await openFile('/a.csv', `number,text\n${rows.join('\n')}\n`);
  const table = await screen.findByRole('table', { name: 'a.csv' });
  expect(table.getAttribute('aria-rowcount')).toBe('100001');
  await screen.findByText('100,000 rows, 2 columns.');
  const shown = screen.getAllByRole('row');
  expect(shown.length).toBeGreaterThan(5);
  expect(shown.length).toBeLessThan(100);
  expect(shown[1]?.textContent).toBe('0<script>x</script>, "0"');
  await expectAccessible();
});

test('of a CSV with a wrong line, the lines before it are shown', async () => {
  await openFile('/a.csv', 'a,b\n1,2\n3,"4\n');
  await screen.findByText(/Line 3 is no CSV from column 2 on/);
  expect(screen.getAllByRole('row').map(({ textContent }) => textContent)).toEqual(['ab', '12']);
});

test('code has colours, and JSON of one line is indented as its numbers are written', async () => {
  const pairs = Array.from({ length: 40 }, (_, at) => `"k${at}":1234567890123456789.10`);
  await openFile('/a.json', `{"<b>":[],${pairs.join()}}`);
  const key = await screen.findByText('"k0"');
  expect(key.className).toBe('hljs-attr');
  const { textContent } = key.closest('pre') as HTMLElement;
  expect(textContent).toMatch(
    /^\{\n {2}"<b>": \[\],\n {2}"k0": 1234567890123456789\.10,\n[^]*\n\}\n$/,
  );
  await expectAccessible();
});

test('nested JSON whose lines would be too long is shown as it is written', async () => {
  const text = '['.repeat(5_000) + ']'.repeat(5_000);
  await openFile('/a.json', text);
  await screen.findByText(
    'Indented, it would have more than 1,000,000 characters. It is shown as written.',
  );
  expect(document.querySelector('pre')?.textContent).toBe(text);
});

test.each(['/a.csv', '/a.txt'])('%s that is not UTF-8 is read as Windows-1252', async (path) => {
  const latin = 'a\n10 \x80 caf\xe9';
  await openFile(
    path,
    Uint8Array.from(latin, (letter) => letter.charCodeAt(0)),
  );
  await screen.findByText(/The text is not UTF-8: it is read as Windows-1252\./);
  screen.getByText(/10 € café/);
});

test.each([
  ['little-endian', true],
  ['big-endian', false],
])('%s UTF-16 with a byte order mark is read', async (_, isLittle) => {
  const text = '\ufeffa café 😀';
  const view = new DataView(new ArrayBuffer(text.length * 2));
  for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), isLittle);
  await openFile('/a.txt', new Uint8Array(view.buffer));
  await screen.findByText('a café 😀');
  expect(screen.queryByText(/is read as Windows-1252/)).toBeNull();
});

test('Markdown is shown without its HTML, scripts and addresses of the page', async () => {
  await openFile(
    '/a.md',
    [
      '# Title',
      '<img src=x onerror=alert(1)><script>alert(1)</script>',
      '',
      '[bad](javascript:alert(1)) [file](b.txt) [web](https://example.org/)',
      '',
      '![A lamp](https://example.org/a.png)',
      '',
      '- [x] done',
      '',
      '| a | b |\n|---|---|\n| 1 | 2 |',
      '',
      '```json\n{"a": 1}\n```',
    ].join('\n'),
  );
  await screen.findByRole('heading', { name: 'Title', level: 3 });
  const prose = document.querySelector<HTMLElement>('.prose');
  expect(prose?.querySelectorAll('script, img, input')).toHaveLength(0);
  expect(prose?.textContent).toContain('<script>alert(1)</script>');
  expect([...(prose?.querySelectorAll('a') ?? [])].map(({ href }) => href)).toEqual([
    'https://example.org/',
  ]);
  screen.getByText('A lamp');
  screen.getByText(/☑/);
  screen.getByRole('columnheader', { name: 'a' });
  expect(screen.getByText('"a"').className).toBe('hljs-attr');
  await expectAccessible();
});

test('deeply nested Markdown is shown as it is written', async () => {
  await openFile('/a.md', '>'.repeat(10_000));
  await screen.findByText('Its quotes and lists are nested too deeply. It is shown as written.');
  expect(document.querySelector('pre')?.textContent).toHaveLength(10_000);
});

test('a sound is played', async () => {
  await openFile('/a.mp3', 'x');
  await waitFor(() =>
    expect(document.querySelector('audio')?.src).toBe('http://storage.test/a.txt'),
  );
  await expectAccessible();
});
