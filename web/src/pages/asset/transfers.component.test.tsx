// What the menus of files offer beside changes, and files that are dropped on a folder.
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { button, openPage } from '../../testing/page';
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
