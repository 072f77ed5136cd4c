// What is selected among the hits, and the dialogs of what is done with it.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { asset, fileAt, hit, hits, holdReply, respond, rightsTo, sent } from '../../testing/server';

const of = (name: string) => `/database/library/assets/${name}`;
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const box = (name: string) => screen.findByLabelText(`Select ${name}`);
const selection = (words: string) => screen.findByText(words);

/** Opens hits with two files each, of which the first ones are selected. */
async function select(number: number, files = [fileAt('/a.txt'), fileAt('/b.txt')]) {
  respond('post', '/search', hits(...NAMES.map((name) => hit(name))));
  for (const name of NAMES) {
    respond('get', of(name), { ...asset, assetId: name, assetName: name });
    respond('get', `${of(name)}/listFiles`, { items: files });
    respond('get', `${of(name)}/asset-links`, {});
  }
  const user = await openPage('/');
  for (const name of NAMES.slice(0, number)) await user.click(await box(name));
  if (number) await selection(`${number} selected`);
  return user;
}

test('a range is selected with Shift, by the mouse and by the keyboard', async () => {
  const user = await select(1);
  await user.keyboard('{Shift>}');
  await user.click(await box('d'));
  await user.keyboard('{/Shift}');
  await selection('4 selected');
  screen.getByRole('link', { name: 'b' }).focus();
  await user.keyboard('x');
  await selection('3 selected');
  await user.click(await button('Clear selection'));
  await waitFor(() => expect(screen.queryByText(/ selected$/)).toBeNull());
});

test('archived assets are restored by Undo', async () => {
  const user = await select(2);
  for (const name of ['a', 'b']) {
    respond('delete', `${of(name)}/archiveAsset`, { jobState: 'done' });
    respond('put', `${of(name)}/unarchiveAsset`, { jobState: 'done' });
  }
  await user.click(await button('Archive'));
  await user.click(await button('Archive', await dialog()));
  await screen.findByText('2 assets archived');
  await user.click(await button('Undo'));
  await screen.findByText('2 assets restored');
  expect(sent.slice(-2).map(({ path }) => path)).toEqual([
    `${of('a')}/unarchiveAsset`,
    `${of('b')}/unarchiveAsset`,
  ]);
});

test('a quick look leads from one asset to the next by keys and buttons', async () => {
  const preview = { id: 'b', url: 'http://storage.test/b.png', expiresAt: '2099-01-01T00:00:00Z' };
  respond('post', '/search', hits(hit('a'), hit('b', { preview, previewMissing: undefined })));
  const user = await openPage('/');
  (await screen.findByRole('link', { name: 'a' })).focus();
  await user.keyboard(' ');
  const look = await dialog();
  const shown = (name: string) => within(look).findByRole('heading', { name });
  await shown('a');
  // The picture of the next asset is loaded before it is looked at.
  expect(look.querySelector('img[hidden]')?.getAttribute('src')).toBe(preview.url);
  await user.keyboard('{ArrowRight}');
  await shown('b');
  await user.keyboard('{ArrowLeft}{ArrowLeft}');
  await shown('a');
  await user.click(await button('Next', look));
  await shown('b');
  await user.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
});

test('a selection remains while an asset is open, and a quick look is a step of the history', async () => {
  const user = await select(2);
  await user.click(screen.getByRole('link', { name: 'c' }));
  await screen.findByRole('heading', { level: 1, name: 'c' });
  history.back();
  await selection('2 selected');
  expect(await box('a')).toHaveProperty('checked', true);
  (await screen.findByRole('link', { name: 'c' })).focus();
  await user.keyboard(' ');
  await within(await dialog()).findByRole('heading', { name: 'c' });
  await user.keyboard('{ArrowRight}');
  await within(await dialog()).findByRole('heading', { name: 'd' });
  history.back();
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await selection('2 selected');
  await user.click(await button('Sign out'));
  await user.type(await screen.findByLabelText('API key'), 'vams_other');
  await user.click(await button('Sign in'));
  await box('a');
  expect(screen.queryByText('2 selected')).toBeNull();
});

test('what a user may not do with selected assets is not offered', async () => {
  respond('post', '/auth/routes', rightsTo('/search', '/assets', '/databases'));
  await select(1);
  const region = screen.getByRole('region', { name: '1 selected' });
  const names = within(region)
    .getAllByRole('button')
    .map((element) => element.textContent);
  expect(names).toEqual(['Select all', 'Download', 'Clear selection']);
});

test('a download names what it leaves out, each with its reason', async () => {
  const user = await select(1, [
    fileAt('/a.txt', { size: 1_500 }),
    fileAt('/<b>.txt', { isArchived: true }),
    fileAt('/c.txt', { isQuarantined: true }),
  ]);
  await user.click(await button('Download'));
  const form = await dialog();
  await within(form).findByText('1 file, 1.5 kB');
  within(form).getByText('2 are left out:');
  const reasons = within(form)
    .getAllByRole('listitem')
    .map((element) => element.textContent);
  expect(reasons).toEqual(['a/<b>.txt Archived', 'a/c.txt In quarantine']);
});

test('an asset that may not be downloaded is left out, and there is nothing to download', async () => {
  const user = await select(1);
  respond('get', of('a'), { ...asset, isDistributable: false });
  await user.click(await button('Download'));
  const form = await dialog();
  await within(form).findByText('Download not allowed');
  expect(await button('Download', form)).toHaveProperty('disabled', true);
});

test('files whose list is not known, or that are refused, are named', async () => {
  const user = await select(1);
  respond(
    'get',
    of('a'),
    { code: 'NotFound', message: 'The asset was not found' },
    { status: 404 },
  );
  await user.click(await button('Download'));
  await within(await dialog()).findByText('The asset was not found.');
  await user.click(await button('Cancel', await dialog()));
  respond('get', of('a'), { ...asset, assetId: 'a' });
  const message = '<b>The file is quarantined</b>';
  let downloads = 0;
  respond('post', `${of('a')}/download`, () => {
    downloads += 1;
    return HttpResponse.json({ code: 'Quarantined', message }, { status: 403 });
  });
  await user.click(await button('Download'));
  const form = await dialog();
  await within(form).findByText(/^2 files, /);
  await user.dblClick(await button('Download', form));
  await within(form).findByText('2 files could not be downloaded:');
  expect(downloads).toBe(2);
  await expectAccessible();
  expect(within(form).getAllByText(/^<b>The file is quarantined/)).toHaveLength(2);
  await selection('1 selected');
});

const WORKFLOW = {
  workflowId: 'inspect',
  databaseId: 'GLOBAL',
  description: 'Reads files',
  autoTriggerOnFileExtensionsUpload: '.txt',
};

async function chooseWorkflow(number: number) {
  respond('get', '/workflows', { message: { Items: [WORKFLOW] } });
  const user = await select(number);
  await user.click(await button('Run a workflow'));
  const form = await dialog();
  await within(form).findByRole('option', { name: 'inspect' });
  await user.selectOptions(within(form).getByLabelText('Workflow'), 'inspect');
  return { user, form };
}

test('a workflow runs on the files of selected assets, and what is refused is tried again', async () => {
  const { user, form } = await chooseWorkflow(2);
  await within(form).findByText('It will run on 4 files of 2 assets, of the types that it is for.');
  const message = 'An execution <b>has not ended</b>';
  const { held, release } = holdReply();
  respond('post', `${of('a')}/workflows/inspect`, async ({ request }) => {
    await held;
    const { fileKeys } = (await request.json()) as { fileKeys: string[] };
    const refused = fileKeys.map((fileKey) => ({ fileKey, code: 'ExecutionActive', message }));
    return HttpResponse.json({ message: 'x', executions: [], refused }, { status: 409 });
  });
  respond('post', `${of('b')}/workflows/inspect`, { executions: [], refused: [] });
  await user.dblClick(await button('Run', form));
  release();
  await within(form).findByText('2 runs started:');
  within(form).getByText('2 runs could not be started:');
  expect(within(form).getAllByText(message)).toHaveLength(2);
  const runs = within(form).getByRole('link', { name: 'Runs on b' });
  expect(runs.getAttribute('href')).toBe('/ui/databases/library/assets/b?show=runs');
  expect(sent.map(({ path }) => path)).toEqual([
    `${of('a')}/workflows/inspect`,
    `${of('b')}/workflows/inspect`,
  ]);
  respond('post', `${of('a')}/workflows/inspect`, { executions: [], refused: [] });
  await user.click(await button('Try again', form));
  await within(form).findByText('4 runs started:');
  expect(screen.queryByText('Try again')).toBeNull();
});

test('a refused run keeps the dialog open with what was chosen', async () => {
  const { user, form } = await chooseWorkflow(1);
  await user.click(within(form).getByLabelText('The assets as a whole'));
  await within(form).findByText('It will run on 1 asset.');
  const refusal = { code: 'InvalidInput', message: 'The workflow needs a single file' };
  respond('post', `${of('a')}/workflows/inspect`, refusal, { status: 400 });
  await user.click(await button('Run', form));
  await within(form).findByText('The workflow needs a single file.');
  expect(within(form).queryByRole('link')).toBeNull();
  expect(within(form).getByLabelText('Workflow')).toHaveProperty('value', 'GLOBAL:inspect');
});

test('archiving names the assets, those that consist of them, and what failed', async () => {
  const user = await select(2);
  const parents = [{ databaseId: 'library', assetId: 'p', assetName: '<b>planetary</b>' }];
  respond('get', `${of('a')}/asset-links`, { parents });
  await user.click(await button('Archive'));
  const form = await dialog();
  await within(form).findByText('An asset has some of them as parts:');
  within(form).getByText('<b>planetary</b>');
  expect(document.activeElement?.textContent).toBe('Cancel');
  respond('delete', `${of('a')}/archiveAsset`, {});
  const refusal = { code: 'PermissionDenied', message: 'You may not archive it' };
  respond('delete', `${of('b')}/archiveAsset`, refusal, { status: 403 });
  await user.dblClick(await button('Archive', form));
  await screen.findByText('1 done, 1 failed (b): You may not archive it.');
  expect(sent).toHaveLength(2);
  await selection('1 selected');
});

test('archived assets are marked in the list, and restored together', async () => {
  const archived = NAMES.map((name) =>
    hit(name, {
      _source: {
        str_databaseid: 'library',
        str_assetid: name,
        str_assetname: name,
        bool_archived: true,
      },
    }),
  );
  respond('post', '/search', hits(...archived));
  const user = await openPage('/?view=list&archived=true');
  await user.click(await box('a'));
  await user.click(await box('b'));
  expect(screen.getAllByText('Archived').length).toBeGreaterThan(5);
  for (const name of ['a', 'b']) respond('put', `${of(name)}/unarchiveAsset`, {});
  await user.dblClick(await button('Restore'));
  await screen.findByText('2 assets restored');
  expect(sent).toHaveLength(2);
});

test('a tag is added to each selected asset, once', async () => {
  const user = await select(2);
  for (const name of ['a', 'b']) respond('put', of(name), {});
  await user.click(await button('Add a tag'));
  const form = await dialog();
  await within(form).findByRole('option', { name: 'museum' });
  await user.type(within(form).getByLabelText('Tag'), 'museum');
  await user.dblClick(await button('Add a tag', form));
  await screen.findByText('2 assets tagged “museum”');
  expect(sent.map(({ body }) => body)).toEqual([
    { tags: ['brass', 'museum'] },
    { tags: ['brass', 'museum'] },
  ]);
});

test('a tag is removed from those of the selected assets that have it', async () => {
  const tagged = (name: string, list_tags: string[]) => {
    const plain = hit(name);
    return { ...plain, _source: { ...plain._source, list_tags } };
  };
  const cards = [tagged('a', ['brass', 'museum']), tagged('b', ['brass']), tagged('c', [])];
  respond('post', '/search', hits(...cards));
  respond('get', of('a'), { ...asset, tags: ['brass', 'museum'] });
  respond('get', of('b'), { ...asset, tags: ['brass'] });
  for (const name of ['a', 'b']) respond('put', of(name), {});
  const user = await openPage('/');
  for (const name of ['a', 'b', 'c']) await user.click(await box(name));
  await user.click(await button('Remove a tag'));
  const form = await dialog();
  await expectAccessible();
  await user.click(await button('brass (2)', form));
  await screen.findByText('“brass” removed from 2 assets');
  expect(sent.map(({ body }) => body)).toEqual([{ tags: ['museum'] }, { tags: [] }]);
});
