// The page of an asset: editing it in place, what it shows of rare states, and names as text.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test, vi } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { ASSET, asset, fileAt, holdReply, respond, rightsTo, sent } from '../../testing/server';

const PAGE = '/databases/library/assets/x1';
const form = () => screen.findByRole('form', { name: 'Edit the asset' });
const field = (name: string) => screen.getByLabelText(name);

async function edit() {
  const user = await openPage(PAGE);
  await user.click(await button('Edit'));
  const type = async (name: string, value: string) => {
    await user.clear(field(name));
    if (value) await user.type(field(name), value);
  };
  return { user, type, save: async () => user.click(await button('Save', await form())) };
}

/** Another user changes the asset after it was read: the first save is refused. */
function changeMeanwhile(changes: Partial<typeof asset>) {
  respond('put', ASSET, { code: 'Changed', message: 'x' }, { status: 412, once: true });
  respond('get', ASSET, { ...asset, ...changes }, { headers: { etag: '"2"' } });
}

test.each([
  ['Name of the asset', ' ', 'Name of the asset is required.'],
  ['Description', 'x', 'The description needs at least four characters.'],
])('%s: “%s” is refused beside the field', async (label, value, words) => {
  const { type, save } = await edit();
  await type(label, value);
  await save();
  const message = await screen.findByText(words);
  expect(field(label).ariaInvalid).toBe('true');
  expect(field(label).getAttribute('aria-describedby')).toContain(message.id);
  expect(document.activeElement).toBe(field(label));
  expect(document.querySelectorAll('[aria-invalid]')).toHaveLength(1);
  expect(sent).toEqual([]);
});

test('of two people who edit one asset, neither loses what was typed', async () => {
  const { type, save } = await edit();
  await type('Name of the asset', 'lamp of one');
  changeMeanwhile({ assetName: 'lamp of the other', description: 'by <b>the other</b>' });
  await save();
  await screen.findByText(/Someone else changed this asset.*save again/);
  expect(field('Name of the asset')).toHaveProperty('value', 'lamp of one');
  expect(field('Description')).toHaveProperty('value', 'by <b>the other</b>');
  expect(screen.getAllByText('Theirs:')).toHaveLength(1);
  screen.getByText('lamp of the other');
  await expectAccessible();
  respond('put', ASSET, {});
  await save();
  await screen.findByRole('heading', { name: 'lamp of one' });
  expect(sent.at(-1)?.body).toEqual({ assetName: 'lamp of one' });
});

test('their value is taken by a press, and tags are added and removed', async () => {
  const { user, type, save } = await edit();
  await type('Name of the asset', 'mine');
  changeMeanwhile({ assetName: 'theirs' });
  await save();
  await user.click(await button('Use theirs'));
  expect(field('Name of the asset')).toHaveProperty('value', 'theirs');
  await screen.findByRole('option', { name: 'museum' });
  expect(screen.queryByRole('option', { name: 'elsewhere' })).toBeNull();
  await user.type(field('Add a tag'), 'museum{Enter}');
  await user.click(await button('Remove the tag brass'));
  respond('put', ASSET, {});
  await user.type(field('Add a tag'), 'half');
  await save();
  await screen.findByText(/^The tag “half” is typed and not added/);
  await waitFor(() => expect(document.activeElement).toBe(field('Add a tag')));
  await user.clear(field('Add a tag'));
  await save();
  await screen.findByText('The changes are saved.');
  expect(sent.at(-1)?.body).toEqual({ tags: ['museum'] });
  await waitFor(() => expect(document.activeElement?.textContent).toBe('Edit'));
});

test('a tag that does not exist is created while typing, where the user may', async () => {
  respond('get', '/tag-types', { Items: [{ tagTypeName: 'condition' }] });
  let reply = () => {};
  const isAwaited = new Promise<void>((resolve) => (reply = resolve));
  respond('get', '/tags', async ({ request }) => {
    await isAwaited;
    const isFirst = !new URL(request.url).searchParams.has('startingToken');
    const tag = { tagName: isFirst ? 'brass' : 'museum', databaseId: 'library' };
    return HttpResponse.json({ Items: [tag], NextToken: isFirst ? '2' : null });
  });
  const { user, save } = await edit();
  // Entered before it is known which tags there are.
  await user.type(field('Add a tag'), '<b>{Enter}');
  reply();
  await screen.findByText(/^The name of a tag has letters/);
  await user.clear(field('Add a tag'));
  await user.type(field('Add a tag'), 'as new{Enter}');
  await waitFor(() => expect(field('Type of the tag')).toHaveProperty('value', 'condition'));
  await expectAccessible();
  const refusal = { code: 'Forbidden', message: 'You may not create this tag' };
  respond('post', '/tags', refusal, { status: 403, once: true });
  await user.click(await button('Create the tag'));
  await screen.findByText('You may not create this tag.');
  respond('post', '/tag-types', {});
  respond('post', '/tags', {});
  await user.clear(field('Type of the tag'));
  await user.type(field('Type of the tag'), 'age{Enter}');
  await button('Remove the tag as new');
  respond('put', ASSET, {});
  await save();
  await screen.findByText('The changes are saved.');
  expect(sent.slice(1).map(({ path, body }) => [path, body])).toEqual([
    ['/tag-types', { tagTypeName: 'age', description: 'age' }],
    ['/tags', { tagName: 'as new', description: 'as new', tagTypeName: 'age' }],
    [ASSET, { tags: ['brass', 'as new'] }],
  ]);
  document.body.replaceChildren();
  respond('post', '/auth/routes', rightsTo('/search', '/assets', '/upload'));
  const reader = await edit();
  await screen.findByRole('option', { name: 'museum' });
  await reader.user.type(field('Add a tag'), 'unheard{Enter}');
  await screen.findByText(/^There is no tag “unheard”/);
});

test.each([
  [404, { code: 'NotFound', message: 'Asset was not found' }, 'Asset was not found.'],
  [400, { errors: [{ field: 'assetName', message: 'must not contain <' }] }, /^The name must not/],
  [429, { message: 'x' }, /^The server has too many requests at the moment/],
  [0, {}, /did not respond, and it is not known/],
])('a save that fails with status %s is named, and nothing typed is lost', async (...row) => {
  const [status, body, words] = row;
  const { type, save } = await edit();
  await type('Name of the asset', '<b>typed</b>');
  respond('put', ASSET, () =>
    status ? HttpResponse.json(body, { status }) : HttpResponse.error(),
  );
  await save();
  await within(await form()).findByText(words);
  expect(field('Name of the asset')).toHaveProperty('value', '<b>typed</b>');
});

test('what is typed while a save takes its time is not lost, and leaving with it asks', async () => {
  const { user, type } = await edit();
  const { held, release } = holdReply();
  respond('put', ASSET, async () => {
    await held;
    return HttpResponse.json({});
  });
  await type('Description', 'first words');
  await user.dblClick(await button('Save', await form()));
  await waitFor(() => expect(sent).toHaveLength(1));
  await user.type(field('Description'), ', and more');
  release();
  await screen.findByText(/^Saved, without what you have typed since/);
  expect(field('Description')).toHaveProperty('value', 'first words, and more');
  const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
  await user.click(screen.getByRole('link', { name: /^Vitrine/ }));
  await waitFor(() => expect(confirm).toHaveBeenCalledOnce());
  expect(field('Description')).toHaveProperty('value', 'first words, and more');
  confirm.mockReturnValue(true);
});

test('the form has a heading, an asset without a version names none, and ends of names are marked', async () => {
  respond('get', ASSET, { ...asset, assetName: ' lamp\u00a0', currentVersion: { Version: '0' } });
  respond('get', `${ASSET}/listFiles`, { items: [fileAt('/ a.txt')] });
  respond('get', `${ASSET}/asset-links`, {
    parents: [{ databaseId: 'library', assetId: 'p', assetName: 'whole' }],
  });
  respond('post', '/previews', { message: 'x' }, { status: 400 });
  const user = await openPage(PAGE);
  await screen.findByRole('heading', { level: 1, name: '␣lamp␣' });
  await screen.findByRole('link', { name: /^␣a\.txt/ });
  expect(screen.queryByText('Version')).toBeNull();
  await screen.findByText('x.');
  await user.click(await button('Edit'));
  screen.getByRole('heading', { level: 1, name: 'Edit the asset' });
});

test('500 tags with markup are text', async () => {
  const tags = Array.from({ length: 500 }, (_, at) => `<img src=x onerror=alert(${at})> ${at}`);
  respond('get', ASSET, { ...asset, assetName: '<script>alert(1)</script>', tags });
  await openPage(PAGE);
  await screen.findByRole('heading', { name: '<script>alert(1)</script>' });
  for (const tag of tags.slice(0, 9)) screen.getByText(tag);
  expect(document.querySelectorAll('.tags .tag')).toHaveLength(500);
});

test.each([
  [{ isDistributable: false }, /may not be downloaded, so they are not shown/, 'Download'],
  [{ status: 'archived' }, 'This asset is archived.', 'Download'],
  [{ status: 'archived' }, 'This asset is archived.', 'Edit'],
])('%o: “%s” is shown, and %s is not offered', async (changes, words, act) => {
  respond('get', ASSET, { ...asset, ...changes });
  await openPage(PAGE);
  await screen.findByText(words);
  await waitFor(() => expect(screen.queryByRole('button', { name: act })).toBeNull());
});

test('an asset that is gone, or has no files, says what to do next', async () => {
  respond('get', ASSET, { code: 'NotFound', message: 'x' }, { status: 404, once: true });
  await openPage(PAGE);
  await screen.findByText('This asset does not exist, or you may not see it.');
  screen.getByText(/send the address of this page to an administrator/);
  respond('get', `${ASSET}/listFiles`, { items: [] });
  respond('get', ASSET, asset);
  document.body.replaceChildren();
  await openPage(PAGE);
  await screen.findByText('This asset has no files yet.');
  expect(screen.getAllByRole('link', { name: 'Upload files' })).toHaveLength(2);
});

test('a file that may not be downloaded, and one that is deleted meanwhile, are named', async () => {
  const refusal = { code: 'Quarantined', message: '<i>It is quarantined</i>' };
  respond('post', `${ASSET}/download`, refusal, { status: 403 });
  const user = await openPage(PAGE);
  await screen.findByText('<i>It is quarantined</i>.');
  const gone = { code: 'NotFound', message: 'The asset was not found' };
  respond('post', `${ASSET}/download`, gone, { status: 404 });
  await user.click(await screen.findByRole('link', { name: /^b\.txt/ }));
  await screen.findByText('The asset was not found.');
});

test('metadata is shown by its types, and as text', async () => {
  const hostile = '<img src=x onerror=alert(1)> javascript:alert(1) https://192.0.2.1/';
  const entry = (metadataKey: string, metadataValue: string, metadataValueType: string) => ({
    metadataKey,
    metadataValue,
    metadataValueType,
  });
  respond('get', `${ASSET}/metadata`, {
    metadata: [entry('made', '2024-05-17', 'date'), entry('note', hostile, 'string')],
  });
  await openPage(PAGE);
  const region = await screen.findByRole('region', { name: 'Metadata' });
  within(region).getByText('May 17, 2024');
  within(region).getByText(hostile);
  expect(region.querySelector('a, img')).toBeNull();
});

test('who may only read is offered no changes, but downloads and versions', async () => {
  respond('post', '/auth/routes', rightsTo('/search', '/assets', '/databases'));
  const user = await openPage(PAGE);
  await screen.findByRole('link', { name: /^a\.txt/ });
  expect(screen.queryByLabelText(/^Change /)).toBeNull();
  expect(screen.queryByLabelText('Show archived files')).toBeNull();
  await user.click(await screen.findByLabelText('What can be done with a.txt'));
  const menu = document.querySelector('.file-menu[open] .choices');
  expect([...(menu?.children ?? [])].map(({ textContent }) => textContent)).toEqual([
    'Download',
    'Versions',
  ]);
});

test('an asset is archived from its page, which is undone by a press', async () => {
  const user = await openPage(PAGE);
  await user.click(await button('Archive the asset'));
  respond('delete', `${ASSET}/archiveAsset`, { jobState: 'done' });
  respond('get', ASSET, { ...asset, status: 'archived' });
  await user.click(await button('Archive', await dialog()));
  await screen.findByText('This asset is archived.');
  await waitFor(() =>
    expect(screen.queryByRole('button', { name: 'Archive the asset' })).toBeNull(),
  );
  respond('put', `${ASSET}/unarchiveAsset`, { jobState: 'done' });
  expect(document.activeElement?.id).toBe('content');
  respond('get', ASSET, asset);
  await user.click(await button('Undo'));
  await screen.findByText('The asset is restored.');
  await button('Archive the asset');
  expect(sent.map(({ method, path }) => [method, path])).toEqual([
    ['DELETE', `${ASSET}/archiveAsset`],
    ['PUT', `${ASSET}/unarchiveAsset`],
  ]);
});

test('an archived asset lists its files, and is restored with them', async () => {
  respond('get', ASSET, { ...asset, status: 'archived' });
  const user = await openPage(`${PAGE}?file=/a.txt`);
  await screen.findByText('This asset is archived.');
  await screen.findByText('a.txt');
  expect(screen.queryByLabelText(/^Change /)).toBeNull();
  const refusal = { code: 'PermissionDenied', message: 'You may not' };
  respond('put', `${ASSET}/unarchiveAsset`, refusal, { status: 403 });
  await user.click(await button('Restore the asset'));
  await screen.findByText('You may not.');
  respond('put', `${ASSET}/unarchiveAsset`, {});
  respond('get', ASSET, asset);
  await user.click(await button('Restore the asset'));
  await screen.findByLabelText('Change a.txt');
  expect(screen.queryByText('This asset is archived.')).toBeNull();
});
