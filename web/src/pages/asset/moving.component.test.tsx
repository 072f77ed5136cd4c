// Files and folders that are dragged, archived, and restored.
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { ASSET, fileAt, respond, sent } from '../../testing/server';

const PAGE = '/databases/library/assets/x1';
const opener = (path: string) => screen.findByLabelText(`Change ${path}`);
const list = (...files: Parameters<typeof fileAt>[]) =>
  respond('get', `${ASSET}/listFiles`, { items: files.map((file) => fileAt(...file)) });

const dataTransfer = { setData: () => undefined, types: [] };
function drag(from: Element, to: Element) {
  fireEvent.dragStart(from, { dataTransfer });
  // Only where the page allows it, a browser drops something.
  const isAllowed = !fireEvent.dragOver(to, { dataTransfer });
  if (isAllowed) fireEvent.drop(to, { dataTransfer });
  fireEvent.dragEnd(from, { dataTransfer });
  return isAllowed;
}

test('a file is dragged into a folder and out of it, a folder not into itself', async () => {
  list(['/a.txt'], ['/papers/b.txt'], ['/papers/old/c.txt']);
  const user = await openPage(PAGE);
  const row = async (path: string) => (await opener(path)).closest('li') ?? document.body;
  const [a, b, papers, old] = [
    await row('a.txt'),
    await row('papers/b.txt'),
    await row('papers'),
    await row('papers/old'),
  ];
  const root = papers.closest('ul') ?? document.body;
  expect(drag(papers, old)).toBe(false);
  expect(drag(b, papers)).toBe(false);
  expect(drag(a, root)).toBe(false);
  respond('post', `${ASSET}/moveFile`, {});
  expect(drag(a, papers)).toBe(true);
  expect(within(await dialog()).getByLabelText('Folder')).toHaveProperty('value', 'papers');
  await user.click(await button('Move', await dialog()));
  await screen.findByText('a.txt is moved.');
  expect(sent[0]?.body).toEqual({ sourcePath: '/a.txt', destinationPath: '/papers/a.txt' });
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(drag((await opener('papers/old')).closest('li') ?? root, root)).toBe(true);
  expect(within(await dialog()).getByLabelText('Into the folder')).toHaveProperty('value', '');
});

test('archiving is undone, also of a folder: only of what was archived with it', async () => {
  list(['/a.txt'], ['/papers/b.txt']);
  const date = 'Sat, 31 Jan 2026 12:00:00 GMT';
  respond('delete', `${ASSET}/archiveFile`, {}, { headers: { date } });
  respond('post', `${ASSET}/unarchiveFile`, {});
  respond('post', `${ASSET}/unarchiveFolder`, { jobId: 'j' });
  respond('get', '/jobs/j', { state: 'done', problems: [] });
  const user = await openPage(PAGE);
  for (const [path, done] of [
    ['a.txt', 'a.txt is restored.'],
    ['papers', 'The folder papers is restored.'],
  ] as const) {
    await user.click(await opener(path));
    await user.click(await button('Archive'));
    await user.click(await button('Archive', await dialog()));
    await user.click(await button('Undo'));
    await screen.findByText(done);
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull());
  }
  expect(sent.map(({ method, path }) => `${method} ${path.replace(ASSET, '')}`)).toEqual([
    'DELETE /archiveFile',
    'POST /unarchiveFile',
    'DELETE /archiveFile',
    'POST /unarchiveFolder',
  ]);
  expect(sent[3]?.body).toMatchObject({ folderPath: '/papers/' });
  expect(JSON.stringify(sent[3]?.body)).toMatch(/"archivedSince":"2026-01-31T11:59:5/);
});

test('an archived folder is restored as a whole, and a file that cannot be is named', async () => {
  list(
    ['/papers/b.txt', { isArchived: true }],
    ['/papers/c.txt', { isArchived: true }],
    ['/mixed/d.txt'],
    ['/mixed/e.txt', { isArchived: true }],
  );
  const user = await openPage(PAGE);
  await user.click(await opener('mixed'));
  expect(await button('Rename')).toBeTruthy();
  await user.click(await opener('papers'));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Rename' })).toBeNull());
  await user.click(await button('Restore'));
  await within(await dialog()).findByText(/^All archived files in the folder are shown again/);
  await expectAccessible();
  respond('post', `${ASSET}/unarchiveFolder`, { jobId: 'j' });
  respond('get', '/jobs/j', { state: 'done', problems: ['/papers/c.txt: is in quarantine'] });
  await user.click(await button('Restore', await dialog()));
  await within(await dialog()).findByText('/papers/c.txt: is in quarantine.');
  respond('get', '/jobs/j', { state: 'done', problems: [] });
  await user.click(await button('Restore', await dialog()));
  await screen.findByText('The folder papers is restored.');
  expect(sent.map(({ body }) => body)).toEqual([
    { folderPath: '/papers/' },
    { folderPath: '/papers/' },
  ]);
});
