// The files of an asset: their menus, and the dialogs of all that is done with them.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { ASSET, fileAt, hit, hits, holdReply, respond, sent } from '../../testing/server';

const PAGE = '/databases/library/assets/x1';
const opener = (path: string) => screen.findByLabelText(`Change ${path}`);

/** Opens the page with these files, and the dialog of an act. */
async function openDialog(path: string, act: string, files: Parameters<typeof fileAt>[] = []) {
  if (files.length) {
    respond('get', `${ASSET}/listFiles`, { items: files.map((file) => fileAt(...file)) });
  }
  const user = await openPage(PAGE);
  await user.click(await opener(path));
  await user.click(await button(act));
  return { user, form: await dialog() };
}

test('the menu of a file is opened, moved through and closed by keys', async () => {
  const user = await openPage(PAGE);
  (await opener('a.txt')).focus();
  for (const [key, name] of [
    ['ArrowDown', 'Download'],
    ['ArrowDown', 'Upload a new version'],
    ['ArrowUp', 'Download'],
    ['ArrowUp', 'Delete'],
    ['ArrowDown', 'Download'],
  ]) {
    await user.keyboard(`{${key}}`);
    expect(document.activeElement?.textContent).toBe(name);
  }
  await user.keyboard('{Escape}');
  expect(document.activeElement).toBe(await opener('a.txt'));
  expect(screen.queryByRole('button', { name: 'Rename' })).toBeNull();
  await user.keyboard('{ArrowUp}{Enter}');
  expect(await screen.findByRole('dialog', { name: 'Delete a.txt?' })).toBeTruthy();
  expect(await button('Cancel')).toBe(document.activeElement);
});

const FOLDER = [['/a.txt'], ['/papers/b.txt'], ['/old.txt', { isArchived: true }]] as Parameters<
  typeof fileAt
>[];

test.each([
  {
    act: 'Rename',
    path: 'a.txt',
    fill: ['File name', 'new.txt'],
    request: 'POST /moveFile',
    body: { sourcePath: '/a.txt', destinationPath: '/new.txt' },
    done: 'a.txt is renamed.',
  },
  {
    act: 'Move',
    path: 'papers/b.txt',
    fill: ['Folder', '/papers//2026/'],
    request: 'POST /moveFile',
    body: { sourcePath: '/papers/b.txt', destinationPath: '/papers/2026/b.txt' },
    done: 'b.txt is moved.',
  },
  {
    act: 'Copy',
    path: 'a.txt',
    fill: [],
    request: 'POST /copyFile',
    body: {
      sourcePath: '/a.txt',
      destinationPath: '/a copy.txt',
      destinationDatabaseId: 'library',
      destinationAssetId: 'x1',
    },
    done: 'a.txt is copied.',
  },
  {
    act: 'Archive',
    path: 'a.txt',
    fill: [],
    request: 'DELETE /archiveFile',
    body: { filePath: '/a.txt', isPrefix: false },
    done: 'a.txt is archived.',
  },
  {
    act: 'Restore',
    path: 'old.txt',
    fill: [],
    request: 'POST /unarchiveFile',
    body: { filePath: '/old.txt' },
    done: 'old.txt is restored.',
  },
  {
    act: 'Delete',
    path: 'papers',
    fill: [],
    request: 'DELETE /deleteFile',
    body: { filePath: '/papers/', isPrefix: true, confirmPermanentDelete: true },
    done: 'The folder papers is deleted.',
  },
])('$act of $path sends one request, also if it is pressed twice', async (row) => {
  const [method, path] = row.request.split(' ') as [string, string];
  const { held, release } = holdReply();
  const verb = method.toLowerCase() as 'post';
  respond(verb, `${ASSET}${path}`, async () => {
    await held;
    return HttpResponse.json({});
  });
  const { user, form } = await openDialog(row.path, row.act, FOLDER);
  const [label, value] = row.fill;
  if (label && value) {
    const field = within(form).getByLabelText(label);
    await user.clear(field);
    await user.type(field, value);
  }
  await user.dblClick(await button(row.act, form));
  release();
  await screen.findByText(row.done);
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(sent).toEqual([{ method, path: `${ASSET}${path}`, body: row.body }]);
  await waitFor(() => {
    const focus = document.activeElement;
    expect(focus?.getAttribute('aria-label') ?? focus?.textContent).toMatch(/^(Change |Files)/);
  });
});

test('typing replaces the stem of a name, and the file that is shown is shown under its new name', async () => {
  const { user } = await openDialog('a.txt', 'Rename');
  respond('post', `${ASSET}/moveFile`, {});
  await user.keyboard('renamed');
  expect(screen.getByLabelText('File name')).toHaveProperty('value', 'renamed.txt');
  respond('get', `${ASSET}/listFiles`, { items: [fileAt('/renamed.txt'), fileAt('/b.txt')] });
  await user.keyboard('{Enter}');
  await waitFor(async () => expect(document.activeElement).toBe(await opener('renamed.txt')));
});

test('a file is copied into another asset, which is required', async () => {
  respond('post', '/search', hits(hit('target')));
  respond('post', `${ASSET}/copyFile`, {});
  const { user, form } = await openDialog('b.txt', 'Copy');
  await user.click(within(form).getByLabelText('Another asset'));
  await user.selectOptions(within(form).getByLabelText('Database'), 'other');
  await user.click(await button('Copy', form));
  const choice = within(form).getByLabelText('Asset');
  await screen.findByText('Asset is required.');
  expect(choice.ariaInvalid).toBe('true');
  await user.selectOptions(choice, await within(form).findByRole('option', { name: 'target' }));
  await user.click(await button('Copy', form));
  await screen.findByText('b.txt is copied.');
  expect(sent[0]?.body).toMatchObject({
    destinationDatabaseId: 'other',
    destinationAssetId: 'target',
  });
});

test('a name or folder that cannot be is refused beside its field, which has the focus', async () => {
  const { user, form } = await openDialog('a.txt', 'Rename');
  const field = within(form).getByLabelText('File name');
  for (const [name, words] of [
    ['', 'File name is required.'],
    ['a.txt', 'The file is there already. Choose another name or folder.'],
    ['b/c.txt', 'A file name must not contain a slash (/).'],
    ['<b>.txt', 'The name “<b>.txt” must not contain < >.'],
  ] as const) {
    await user.clear(field);
    if (name) await user.type(field, name);
    await user.click(await button('Rename', form));
    const alert = await within(form).findByText(words);
    expect(field.getAttribute('aria-describedby')).toBe(alert.id);
    expect(document.activeElement).toBe(field);
    expect(form.querySelectorAll('[aria-invalid]')).toHaveLength(1);
  }
  expect(sent).toEqual([]);
  await user.keyboard('{Escape}');
  await user.click(await opener('a.txt'));
  await user.click(await button('Move'));
  await user.click(await button('Move', await dialog()));
  expect(await screen.findByText(/^The file is there already/)).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByLabelText('Folder'));
});

test('each refusal of a change is named, and what was typed stays', async () => {
  const { user, form } = await openDialog('a.txt', 'Rename');
  const field = within(form).getByLabelText('File name');
  await user.clear(field);
  await user.type(field, 'kept.txt');
  for (const [status, body, words, isMarked = false, after = ''] of [
    [
      409,
      { code: 'FileExists', message: 'The asset already has a file /b.txt' },
      /b\.txt\.$/,
      true,
    ],
    [409, { code: 'Archived', message: 'The file is archived: restore it first' }, /restore it/],
    [403, { code: 'PermissionDenied', message: 'You may not change it' }, /^You may not change it/],
    [404, { code: 'NotFound', message: 'Asset was not found' }, /^Asset was not found/],
    [429, { message: 'Too many requests' }, /too many requests at the moment\.$/],
    [429, { message: 'Too many requests' }, /Try again in 7 seconds\.$/, false, '7'],
    [502, { message: 'Bad Gateway' }, /it is not known whether the change was made/],
    [0, {}, /did not respond, and it is not known/],
  ] as const) {
    respond('post', `${ASSET}/moveFile`, () =>
      status
        ? HttpResponse.json(body, { status, headers: { 'Retry-After': after } })
        : HttpResponse.error(),
    );
    await user.click(await button('Rename', form));
    await within(form).findByText(words);
    expect(field).toHaveProperty('value', 'kept.txt');
    expect(field.ariaInvalid === 'true').toBe(isMarked);
    if (isMarked) await expectAccessible();
  }
});

test('a long change is waited for, its failure is named, and its end is also shown after closing', async () => {
  const states = ['queued', 'failed', 'running', 'done'];
  respond('delete', `${ASSET}/deleteFile`, { jobId: 'changeFiles.test' });
  respond('get', '/jobs/changeFiles.test', () =>
    HttpResponse.json({ state: states.shift(), problems: ['The disk is full'] }),
  );
  const { user, form } = await openDialog('a.txt', 'Delete');
  await within(form).findByText(/This cannot be undone/);
  await user.click(await button('Delete', form));
  await within(form).findByText(/This takes longer/);
  await within(form).findByText('The disk is full.');
  await user.click(await button('Delete', form));
  await within(form).findByText(/This takes longer/);
  await user.click(await button('Close', form));
  await screen.findByText('a.txt is deleted.');
});

const REFERS = 'A file of this asset refers to it and will no longer find it:';
const NEEDS = /^It refers to a file by its relative path and will not find it/;

test.each([
  ['a.txt', 'Rename', REFERS],
  ['a.txt', 'Move', REFERS],
  ['a.txt', 'Archive', REFERS],
  ['a.txt', 'Delete', REFERS],
  ['papers', 'Archive', /^A file of this asset refers to files in the folder/],
  ['papers', 'Delete', /^A file of this asset refers to files in the folder/],
])('%s: %s names what will miss it', async (path, act, words) => {
  respond('get', `${ASSET}/dependents`, { items: [{ filePath: '/<b>model</b>.gltf' }] });
  const { form } = await openDialog(path, act, FOLDER);
  const alert = await within(form).findByText(words);
  expect(alert.closest('[role=alert]')).toBeTruthy();
  within(form).getByText('/<b>model</b>.gltf');
});

test('what a file needs is named once it would leave, and nothing where nothing is affected', async () => {
  const references = [{ filePath: '/skin.png', state: 'present' }];
  respond('get', `${ASSET}/dependencies`, { items: [{ filePath: '/a.txt', references }] });
  const { user, form } = await openDialog('a.txt', 'Move');
  await waitFor(() => expect(within(form).queryByText(/^Looking for/)).toBeNull());
  expect(within(form).queryByText(NEEDS)).toBeNull();
  await user.type(within(form).getByLabelText('Folder'), 'elsewhere');
  await within(form).findByText(NEEDS);
  within(form).getByText('/skin.png');
});

test('of a change that ends after its page was left, the end is told and nothing leads back', async () => {
  const { held, release } = holdReply();
  respond('post', `${ASSET}/moveFile`, async () => {
    await held;
    return HttpResponse.json({});
  });
  const { user, form } = await openDialog('a.txt', 'Rename');
  await user.keyboard('b2');
  await user.click(await button('Rename', form));
  await waitFor(() => expect(sent).toHaveLength(1));
  await user.click(screen.getByRole('link', { name: /^Vitrine/ }));
  await screen.findByLabelText('Select lamp');
  release();
  await screen.findByText('a.txt is renamed.');
  expect(location.pathname).toBe('/ui/');
});
