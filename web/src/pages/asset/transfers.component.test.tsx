// What the menus of files offer beside changes, and files that are dropped on a folder.
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test, vi } from 'vitest';
import { button, dialog, openPage } from '../../testing/page';
import { ASSET, fileAt, respond } from '../../testing/server';

const PAGE = '/databases/library/assets/x1';
const opener = (path: string) => screen.findByLabelText(`Change ${path}`);
const fileMenu = () =>
  waitFor(() => {
    const menu = document.querySelector<HTMLElement>('.file-menu[open] .choices');
    if (!menu) throw new Error('no menu is open');
    return menu;
  });

test('a folder and a file are uploaded to and downloaded by the same menu, also by right-click', async () => {
  const items = [fileAt('/papers/b.txt'), fileAt('/c.txt')];
  respond('get', `${ASSET}/listFiles`, { items });
  const user = await openPage(PAGE);
  await opener('papers');
  // Pages above this one are not the current page.
  expect([...document.querySelectorAll('[aria-current=page]')]).toEqual([]);
  const row = screen.getByText('papers').closest('li');
  if (row) fireEvent.contextMenu(row);
  await user.click(await button('Upload here'));
  await screen.findByText('The files go into the folder papers.');
  expect(location.search).toContain('folder=');
  history.back();
  let downloaded = '';
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click');
  click.mockImplementation(function save(this: HTMLAnchorElement) {
    downloaded = this.href;
  });
  await user.click(await opener('c.txt'));
  await user.click(await button('Download', await fileMenu()));
  await waitFor(() => expect(downloaded).toBe('http://storage.test/a.txt'));
  click.mockRestore();
  const picker = vi.spyOn(HTMLInputElement.prototype, 'click');
  picker.mockImplementation(function choose(this: HTMLInputElement) {
    fireEvent.change(this, { target: { files: [new File(['x'], 'other name.txt')] } });
  });
  await user.click(await opener('c.txt'));
  await user.click(await button('Upload a new version'));
  await screen.findByText('1 replaces the present version.');
  picker.mockRestore();
});

test('files that are dropped on a folder go into it', async () => {
  respond('get', `${ASSET}/listFiles`, { items: [fileAt('/papers/b.txt')] });
  await openPage(PAGE);
  const folder = await screen.findByText('papers');
  const file = new File(['x'], 'new.txt');
  const entry = {
    name: file.name,
    isDirectory: false,
    file: (resolve: (file: File) => void) => resolve(file),
  };
  const item = { kind: 'file', webkitGetAsEntry: () => entry };
  const dataTransfer = { types: ['Files'], items: [item], files: [file] };
  fireEvent.dragOver(folder, { dataTransfer });
  await screen.findByText('Drop the files into the folder papers');
  fireEvent.drop(folder, { dataTransfer });
  await screen.findByText('papers/new.txt');
});

test('a folder is downloaded as one ZIP by one press of its menu, or copied as a command', async () => {
  const files = [fileAt('/papers/b.txt'), fileAt('/papers/in/c.txt')];
  let prefix: string | null = null;
  respond('get', `${ASSET}/listFiles`, ({ request }) => {
    prefix = new URL(request.url).searchParams.get('prefix') ?? prefix;
    return HttpResponse.json({ items: files });
  });
  const user = await openPage(PAGE);
  const saved: Blob[] = [];
  vi.stubGlobal('URL', Object.assign(URL, { createObjectURL: (zip: Blob) => saved.push(zip) }));
  Object.assign(URL, { revokeObjectURL: () => undefined });
  let name = '';
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click');
  click.mockImplementation(function save(this: HTMLAnchorElement) {
    name = this.download;
  });
  await user.click(await opener('papers'));
  await user.click(await button('Download', await fileMenu()));
  await screen.findByText('2 files downloaded');
  expect([name, prefix]).toEqual(['papers.zip', '/papers/']);
  const content = await saved[0]?.text();
  expect(content).toContain('papers/in/c.txt');
  expect(content).not.toContain('lamp');
  // A file that is left out is named before anything is downloaded.
  files.push(fileAt('/papers/old.txt', { isArchived: true }));
  await user.click(await opener('papers'));
  await user.click(await button('Download', await fileMenu()));
  const window = await dialog();
  await within(window).findByText('1 is left out:');
  await user.click(await button('Copy as command', window));
  await screen.findByText('Command copied');
  expect(await navigator.clipboard.readText()).toBe('vitrine download library x1 /papers/');
  expect(saved).toHaveLength(1);
  click.mockRestore();
  await user.click(await button('Cancel', window));
  await user.click(await button('Download all'));
  await user.click(await button('Copy as command', await dialog()));
  await waitFor(async () =>
    expect(await navigator.clipboard.readText()).toBe('vitrine download library x1'),
  );
});
