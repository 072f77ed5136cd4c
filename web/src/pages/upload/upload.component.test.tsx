// The page of uploads: which files are refused or there already, its form, and how it runs and ends.
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test, vi } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { ASSET, asset, fileAt, hit, hits, respond, rightsTo, sent } from '../../testing/server';

const START = '/upload?database=library&asset=x1';

/** Computes no sums: that of a file is its name. */
class NamesAsSums {
  onmessage: ((event: { data: object }) => void) | null = null;
  postMessage({ id, file }: { id: number; file: File }) {
    setTimeout(() => this.onmessage?.({ data: { id, sum: `sum of ${file.name}` } }));
  }
  terminate() {}
}
vi.stubGlobal('Worker', NamesAsSums);

async function choose(path: string, ...names: string[]) {
  const user = await openPage(path);
  await screen.findByText('Drop files or a folder here');
  const picker = document.querySelector('input[type=file]');
  const files = names.map((name) => new File(['x'], name));
  if (picker) fireEvent.change(picker, { target: { files } });
  return user;
}

const row = (name: string) =>
  screen.findByText(
    (_, element) => element?.tagName === 'LI' && element.textContent.startsWith(name),
  );
const start = () => screen.findByRole('button', { name: /^Upload/ });

test.each([
  ['what?.txt', 'Its name must not contain ?.'],
  ['Setup.exe', 'Files with the extension .exe are blocked.'],
  ['last.', /^Its name must not end with a dot/],
])('%s is refused beside its name, and the others can be uploaded', async (name, words) => {
  const user = await choose('/upload', 'good.txt', name);
  await within(await row(name)).findByText(words);
  screen.getByText(/^1 file cannot be uploaded, .* go on without it\.$/);
  expect((await start()).textContent).toBe('Upload 1 file');
  await user.click(await button(`Do not upload ${name}`));
  expect(screen.queryByText(/cannot be uploaded/)).toBeNull();
});

test('of two files with one path neither replaces the other', async () => {
  const user = await choose('/upload', '\u00e9.txt', 'e\u0301.txt', 'other.txt');
  expect(await screen.findAllByText('Another chosen file has the same path.')).toHaveLength(2);
  expect((await start()).textContent).toBe('Upload 1 file');
  await user.click(screen.getAllByRole('button', { name: /^Do not upload .\.txt/u })[0] as Element);
  expect((await start()).textContent).toBe('Upload 2 files');
});

test('a type that the database does not accept is marked when the database is chosen', async () => {
  const restrictFileUploadsToExtensions = '.glb,.obj';
  respond('get', '/database', {
    Items: [{ databaseId: 'library' }, { databaseId: 'models', restrictFileUploadsToExtensions }],
  });
  const user = await choose('/upload', 'a.txt', 'b.txt');
  await screen.findByRole('option', { name: 'models' });
  expect(screen.queryByText(/accepts only files/)).toBeNull();
  await user.selectOptions(screen.getByLabelText('Database'), 'models');
  await waitFor(() => expect(screen.getAllByText(/\.glb and \.obj/)).toHaveLength(2));
  await user.click(await start());
  await screen.findByText(/^None of the chosen files can be uploaded/);
});

test('each wrong field of the form is marked, and has the focus', async () => {
  const user = await choose('/upload', 'a.txt');
  await screen.findByRole('option', { name: 'library' });
  const marked = async (label: string, words: string | RegExp) => {
    await user.click(await start());
    const message = await screen.findByText(words);
    const field = screen.getByLabelText(label);
    expect(field.ariaInvalid).toBe('true');
    expect(field.getAttribute('aria-describedby')).toContain(message.id);
    expect(document.activeElement).toBe(field);
    expect(document.querySelectorAll('[aria-invalid]')).toHaveLength(1);
  };
  await marked('Database', 'Database is required.');
  await user.selectOptions(screen.getByLabelText('Database'), 'library');
  await user.clear(screen.getByLabelText('Name of the asset'));
  await marked('Name of the asset', 'Name of the asset is required.');
  await user.type(screen.getByLabelText('Name of the asset'), 'a < b');
  await marked('Description', 'The description needs at least four characters.');
  await user.type(screen.getByLabelText('Description'), 'of a test');
  const errors = [{ field: 'assetName', message: 'must not contain <' }];
  respond('post', '/assets', { code: 'InvalidInput', message: 'x', errors }, { status: 400 });
  await marked('Name of the asset', 'The name must not contain <.');
  await user.click(screen.getByLabelText('An existing asset'));
  await marked('Asset', 'Asset is required.');
});

test('without a database, chosen files need one press: the form names a new one', async () => {
  respond('get', '/database', { Items: [] });
  respond('get', '/buckets', { Items: [{ bucketId: 'b1' }] });
  respond('post', '/database', { databaseId: 'library' });
  const busy = { code: 'InvalidInput', message: 'The name is taken' };
  respond('post', '/assets', busy, { status: 400 });
  const user = await choose('/upload', 'lamp.glb');
  const name = await screen.findByLabelText('Name of the database');
  await user.clear(name);
  await user.type(name, 'my models');
  await user.click(await start());
  expect(name.ariaInvalid).toBe('true');
  await user.clear(name);
  await user.type(name, 'models');
  await expectAccessible();
  await user.click(await start());
  await screen.findByText('The name is taken.');
  // Another try creates no second database.
  respond('get', '/database', { Items: [{ databaseId: 'models' }] });
  await user.click(await start());
  await waitFor(() => expect(sent).toHaveLength(3));
  const description = 'Models, images and their documents';
  const created = { databaseId: 'models', description, defaultBucketId: 'b1' };
  const asset = { databaseId: 'models', assetName: 'lamp', description: 'Files of lamp' };
  expect(sent.map(({ path }) => path)).toEqual(['/database', '/assets', '/assets']);
  expect(sent[0]?.body).toEqual(created);
  expect(sent[1]?.body).toMatchObject(asset);
});

test('who may not upload sees that, and there is no form', async () => {
  respond('post', '/auth/routes', rightsTo('/search', '/assets'));
  await openPage('/upload');
  await screen.findByText(/^You may not upload files/);
  expect(screen.queryByText('Choose files')).toBeNull();
});

/** The target has two files: one with the content of a chosen one, and one with another. */
function compare() {
  const items = ['/a.txt', '/b.txt'].map((path) => fileAt(path, { size: 1 }));
  respond('get', `${ASSET}/listFiles`, { items });
  respond('get', `${ASSET}/fileInfo`, ({ request }) => {
    const path = new URL(request.url).searchParams.get('filePath');
    const checksumSha256 = path === '/a.txt' ? 'sum of a.txt' : 'another';
    return HttpResponse.json({ checksumSha256 });
  });
}

test('files that are there already are named, and left out unless they are wanted', async () => {
  compare();
  const user = await choose(START, 'a.txt', 'b.txt', 'c.txt');
  await within(await row('a.txt')).findByText('already there, same content, left out');
  await within(await row('b.txt')).findByText('replaces the present version');
  await within(await row('c.txt')).findByText('new');
  screen.getByText(
    '1 is new, 1 replaces the present version, and 1 is already there with the same content (SHA-256).',
  );
  expect((await start()).textContent).toBe('Upload 2 files');
  const leave = screen.getByLabelText(/^Leave out the file that is already there/);
  leave.focus();
  await user.keyboard(' ');
  expect((await start()).textContent).toBe('Upload 3 files');
});

test('if all chosen files are left out, there is nothing to upload', async () => {
  compare();
  const user = await choose(START, 'a.txt');
  await within(await row('a.txt')).findByText(/left out$/);
  await user.click(await start());
  await screen.findByText('All chosen files are left out, so there is nothing to upload.');
  expect(sent).toEqual([]);
});

test('a target that is chosen after the files is compared', async () => {
  compare();
  respond('post', '/search', hits(hit('x1')));
  const user = await choose('/upload', 'a.txt');
  await user.click(screen.getByLabelText('An existing asset'));
  await screen.findByRole('option', { name: 'library' });
  await user.selectOptions(screen.getByLabelText('Database'), 'library');
  await screen.findByRole('option', { name: 'x1' });
  await user.selectOptions(screen.getByLabelText('Asset'), 'x1');
  await screen.findByText('already there, same content, left out');
  await user.click(screen.getByLabelText('A new asset'));
  await waitFor(() => expect(screen.queryByText(/^already there/)).toBeNull());
});

test('a target that cannot be listed is no hindrance, and one that is gone is named', async () => {
  const refusal = { code: 'Odd', message: 'The list is broken' };
  respond('get', `${ASSET}/listFiles`, refusal, { status: 400 });
  const user = await choose(START, 'c.txt');
  await screen.findByText(
    /^It is not known which of these files are already there: The list is broken\./,
  );
  const gone = { code: 'NotFound', message: 'The asset was not found' };
  respond('get', ASSET, gone, { status: 404 });
  await user.click(await start());
  await screen.findByText('The asset was not found.');
  await row('c.txt');
});

test('an upload that waits for a busy server says how long, and refused files are named', async () => {
  respond('get', `${ASSET}/listFiles`, { items: [] });
  respond('get', ASSET, asset);
  const user = await choose(START, 'a.txt', 'b.txt');
  await screen.findByText('2 are new.');
  const busy = { status: 503, headers: { 'Retry-After': '4' }, once: true };
  const errors = { code: 'InvalidInput', message: 'The name <b> is taken' };
  respond('post', '/uploads', errors, { status: 400 });
  respond('post', '/uploads', { message: 'Too many requests' }, busy);
  await user.dblClick(await start());
  await screen.findByText(/^The server is busy, and the upload waits: /);
  expect(sent.filter(({ path }) => path === '/uploads')).toHaveLength(1);
  await expectAccessible();
  await screen.findByText(/It goes on in 3 seconds\./);
  await screen.findByText('2 files could not be uploaded.', {}, { timeout: 15_000 });
  expect(screen.getAllByText(/failed: The name <b> is taken\.$/)).toHaveLength(2);
  expect(screen.queryByText('The server is busy')).toBeNull();
  expect(screen.queryByRole('button', { name: 'Try the failed files again' })).toBeNull();
});

test('a file whose name exists at another path becomes a new file, or a new version of that', async () => {
  respond('get', `${ASSET}/listFiles`, {
    items: [fileAt('/papers/b.txt', { size: 3 }), fileAt('/old/b.txt')],
  });
  const user = await choose(START, 'b.txt', 'c.txt');
  const choice = await screen.findByLabelText('b.txt');
  expect(screen.queryByLabelText('c.txt')).toBeNull();
  await expectAccessible();
  await user.selectOptions(choice, 'A new version of papers/b.txt');
  await within(await row('papers/b.txt')).findByText('replaces the present version');
  await user.selectOptions(choice, 'A new file: b.txt');
  await within(await row('b.txt')).findByText('new');
  await user.selectOptions(choice, 'A new version of papers/b.txt');
  await user.click(await button('Do not upload papers/b.txt'));
  await waitFor(() => expect(screen.queryByLabelText('b.txt')).toBeNull());
});
