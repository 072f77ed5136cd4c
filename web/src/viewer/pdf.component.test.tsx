// The pages of a PDF: turned, chosen, and searched. How they are drawn is tested in a browser.
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { expectAccessible } from '../testing/page';
import type { PdfDocument } from './pdfDocument';
import { PdfPages } from './PdfPages';

vi.mock('./pdfDocument', () => ({ foldText: (text: string) => text }));

test('pages are turned by buttons, keys and numbers, and found by their texts', async () => {
  const find = vi.fn<PdfDocument['find']>().mockResolvedValue(5);
  const pdf = { pages: 7, find } as unknown as PdfDocument;
  render(
    <main>
      <h1>A file</h1>
      <PdfPages path="/a.pdf" pdf={pdf} />
    </main>,
  );
  const user = userEvent.setup();
  const page = () => screen.getByLabelText<HTMLInputElement>('Page');
  await user.click(screen.getByRole('button', { name: 'Next page' }));
  expect(page().value).toBe('2');
  screen.getByRole('group', { name: 'a.pdf' }).focus();
  await user.keyboard('{PageDown}{PageDown}{PageUp}');
  expect(page().value).toBe('3');
  await user.clear(page());
  await user.type(page(), '99{Enter}');
  expect(page().value).toBe('7');
  await user.type(screen.getByLabelText('Find in the document'), 'oak{Enter}');
  await screen.findByText('Found on page 5.');
  expect(page().value).toBe('5');
  find.mockResolvedValue(null);
  await user.keyboard('{Enter}');
  await screen.findByText('Not found.');
  expect(find.mock.calls.map(([text, from]) => [text, from])).toEqual([
    ['oak', 7],
    ['oak', 6],
  ]);
  await expectAccessible();
});
