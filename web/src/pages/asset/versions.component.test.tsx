// Versions of an asset and of a file: the timeline, an old version, differences, and the way back.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test, vi } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { ASSET, fileAt, respond, rightsTo, sent } from '../../testing/server';

const PAGE = '/databases/library/assets/x1';

const version = (id: string, more = {}) => ({
  Version: id,
  DateModified: '2026-01-31T12:00:00Z',
  Comment: `comment <b>${id}</b>`,
  createdBy: 'ann',
  isCurrent: false,
  isArchived: false,
  fileCount: 2,
  versionAlias: '',
  ...more,
});
const held = (relativeKey: string, versionId: string, more = {}) => ({
  relativeKey,
  versionId,
  size: 5,
  isPermanentlyDeleted: false,
  ...more,
});
const whole = (...files: object[]) => ({
  assetVersionId: '1',
  comment: 'the <i>first</i>',
  createdBy: 'ann',
  dateCreated: '2026-01-31T12:00:00Z',
  versionAlias: 'released',
  fileCount: files.length,
  files,
  versionedMetadata: [],
});

/** Opens the timeline of the asset. */
async function openVersions(path = PAGE) {
  const versions = [version('2', { isCurrent: true }), version('1', { versionAlias: 'released' })];
  respond('get', `${ASSET}/getVersions`, { versions: [...versions, version('0')] });
  const user = await openPage(path);
  await user.click(await screen.findByRole('heading', { name: 'Versions' }));
  const line = async (name: RegExp) => {
    const item = (await screen.findByRole('link', { name })).closest('li');
    if (!item) throw new Error('it is not in a list');
    return item;
  };
  return { user, line };
}

test('the timeline names each version; a version shows its files and metadata as they were', async () => {
  const record = (filePath: string, metadataKey: string) => ({
    type: 'metadata',
    filePath,
    metadataKey,
    metadataValue: '<b>old</b>',
    metadataValueType: 'string',
  });
  const files = [
    held('a.txt', 'v1'),
    held('lost.txt', 'v2', { isPermanentlyDeleted: true }),
    held('papers/c.txt', 'v3'),
  ];
  const versionedMetadata = [record('/', 'mass'), record('/papers/c.txt', 'scale')];
  respond('get', `${ASSET}/getVersion/1`, { ...whole(...files), versionedMetadata });
  const downloads: unknown[] = [];
  respond('post', `${ASSET}/download`, async ({ request }) => {
    downloads.push(await request.json());
    return HttpResponse.json({ downloadUrl: 'http://storage.test/a.txt' });
  });
  const { user, line } = await openVersions();
  within(await line(/^Version 2$/)).getByText('current');
  within(await line(/^Version 2$/)).getByText('comment <b>2</b>');
  within(await line(/^Version 1 \(released\)$/)).getByText(/^ann · .*2026.* · 2 files$/);
  expect(screen.queryByText('Version 0')).toBeNull();
  await expectAccessible();
  downloads.length = 0;
  await user.click(screen.getByRole('link', { name: /^Version 1/ }));
  await screen.findByText('You are looking at version 1 (released).');
  const where = within(screen.getByRole('navigation', { name: 'Where this asset is' }));
  const database = where.getByRole('link', { name: 'library' });
  expect(database.getAttribute('href')).toBe('/ui/databases/library');
  await screen.findByText('the <i>first</i>');
  await waitFor(() => expect(downloads).toMatchObject([{ key: '/a.txt', versionId: 'v1' }]));
  await waitFor(() => expect(document.activeElement?.textContent).toBe('lamp'));
  within(await screen.findByRole('region', { name: 'Metadata' })).getByText('<b>old</b>');
  expect(screen.queryByRole('link', { name: /^lost/ })).toBeNull();
  await user.click(screen.getByRole('link', { name: /^c\.txt/ }));
  await screen.findByText('scale');
  await screen.findByText('content');
  await expectAccessible();
  expect(downloads).toMatchObject([{ versionId: 'v1' }, { key: '/papers/c.txt', versionId: 'v3' }]);
  expect(screen.queryByLabelText(/^Change /)).toBeNull();
  await user.click(screen.getByRole('link', { name: 'Back to the newest files' }));
  await screen.findByLabelText('Change a.txt');
});

test('a version that is not there says so, and leads back', async () => {
  const gone = { code: 'AssetVersionNotFound', message: 'x' };
  respond('get', `${ASSET}/getVersion/9`, gone, { status: 404 });
  await openPage(`${PAGE}?version=9`);
  await screen.findByText('This asset has no such version.');
  screen.getByRole('link', { name: 'Back to the newest files' });
});

test('two versions are compared: files, metadata and facts', async () => {
  const side = (size: number) => ({ size, versionId: 'v', etag: '' });
  const text = (metadataValue: string) => ({ metadataValue, metadataValueType: 'string' });
  const none = { added: [], removed: [], changed: [] };
  const pairs: string[] = [];
  respond('get', `${ASSET}/compareVersions`, ({ request }) => {
    const { searchParams } = new URL(request.url);
    pairs.push([searchParams.get('from'), searchParams.get('to')].join());
    return HttpResponse.json({
      files: {
        added: [{ relativeKey: '/new.txt', to: side(7) }],
        removed: [],
        changed: [{ relativeKey: '/a <b>.txt', from: side(5), to: side(1500) }],
      },
      metadata: {
        ...none,
        removed: [{ filePath: '/', metadataKey: 'mass', from: text('12') }],
      },
      attributes: {
        ...none,
        changed: [
          { filePath: '/a.stl', metadataKey: 'fact_volume', from: text('1'), to: text('2') },
          { filePath: '/a.stl', metadataKey: 'part', from: text('x'), to: text('y') },
        ],
      },
      geometry: [
        { filePath: '/a.stl', fact: 'triangles', from: 12, to: 12000 },
        { filePath: '/a.stl', fact: 'boundsMax', from: '[1, 1, 0]', to: '[2, 1, 0]' },
      ],
    });
  });
  const { user, line } = await openVersions();
  await user.click(await button('Changes: Version 2', await line(/^Version 2/)));
  const window = await dialog();
  await within(window).findByText('1 file added');
  within(window).getByText('1 file changed');
  within(window).getByText('a <b>.txt');
  within(window).getByText('5 B → 1.5 kB');
  within(window).getByText('12 → –');
  within(window).getByText('x → y');
  within(window).getByText('12 → 12,000');
  expect(within(window).queryByText(/volume|bounds/i)).toBeNull();
  await expectAccessible();
  await user.selectOptions(within(window).getByLabelText('To'), 'Version 1 (released)');
  await waitFor(() => expect(pairs).toEqual(['1,2', '1,1']));
});

test('the newest version is compared with the files as they are now', async () => {
  respond('get', `${ASSET}/getVersion/2`, whole(held('a.txt', 'v1'), held('gone.txt', 'v2')));
  const items = [fileAt('/a.txt', { versionId: 'v9' }), fileAt('/b.txt', { versionId: 'v3' })];
  respond('get', `${ASSET}/listFiles`, { items });
  const { user } = await openVersions();
  await user.click(await button('Compare'));
  const window = await dialog();
  for (const words of ['1 file added', '1 file removed', '1 file changed', '5 B → 10 B'])
    await within(window).findByText(words);
});

test('a version is restored once it is shown what that changes', async () => {
  const files = [
    held('a.txt', 'v1'),
    held('same.txt', 'v2'),
    held('gone.txt', 'v3'),
    held('lost.txt', 'v4', { isPermanentlyDeleted: true }),
  ];
  respond('get', `${ASSET}/getVersion/1`, whole(...files));
  const items = [
    fileAt('/a.txt', { versionId: 'v9' }),
    fileAt('/same.txt', { versionId: 'v2' }),
    fileAt('/b.txt', { versionId: 'v8' }),
  ];
  respond('get', `${ASSET}/listFiles`, { items });
  const { user, line } = await openVersions();
  await user.click(await button('Restore: Version 1', await line(/^Version 1/)));
  const window = await dialog();
  await within(window).findByText('1 file gets its earlier content');
  within(window).getByText('10 B → 5 B');
  within(window).getByText('1 file is restored');
  within(window).getByText(/^1 file was deleted with all its versions/);
  within(window).getByText('1 file that is not in the version remains as it is');
  await expectAccessible();
  const denied = { code: 'PermissionDenied', message: 'You may not' };
  const route = `${ASSET}/revertAssetVersion/1`;
  respond('post', route, denied, { status: 403, once: true });
  await user.click(await button('Restore', window));
  await within(window).findByText('You may not.');
  await user.click(within(window).getByLabelText(/^Restore the metadata/));
  respond('post', route, { assetVersionId: '3', jobId: 'version.j' });
  respond('get', '/jobs/version.j', { state: 'done', problems: [] });
  await user.dblClick(await button('Restore', window));
  await screen.findByText('Version 1 is restored as version 3.');
  const body = { comment: 'Back to version 1', revertMetadata: false };
  expect(sent.map((request) => request.body)).toEqual([body, { ...body, revertMetadata: true }]);
});

test('a version is created with a comment and an alias, and both are changed', async () => {
  const { user, line } = await openVersions();
  await user.click(await button('Create a version'));
  const window = await dialog();
  await user.click(await button('Create', window));
  await within(window).findByText('A version needs a comment.');
  await user.type(within(window).getByLabelText('Comment'), 'as printed');
  await user.type(within(window).getByLabelText('Alias'), 'released');
  const taken = { code: 'VersionAliasTaken', message: 'Another version has the alias' };
  respond('post', `${ASSET}/createVersion`, taken, { status: 409, once: true });
  await user.click(await button('Create', window));
  await within(window).findByText('Another version has the alias.');
  expect(document.activeElement).toBe(within(window).getByLabelText('Alias'));
  const skippedFiles = ['/lost.txt'];
  respond('post', `${ASSET}/createVersion`, { assetVersionId: '3', skippedFiles });
  await user.click(await button('Create', window));
  await screen.findByText('Version 3 is created. 1 file was left out: /lost.txt');
  const created = { comment: 'as printed', useLatestFiles: true, versionAlias: 'released' };
  await user.click(await button('Edit: Version 1', await line(/^Version 1/)));
  const alias = within(await dialog()).getByLabelText('Alias');
  await user.clear(alias);
  respond('put', `${ASSET}/assetversions/1`, {});
  await user.click(await button('Save', await dialog()));
  await screen.findByText('Version 1 is changed.');
  expect(sent.map(({ body }) => body)).toEqual([created, created, { versionAlias: '' }]);
});

test('who may only read sees versions, and is offered no change of them', async () => {
  respond('post', '/auth/routes', rightsTo('/search', '/assets', '/databases'));
  await openVersions();
  await button('Changes: Version 2');
  expect(screen.queryByRole('button', { name: /^(Restore|Edit|Create a version)/ })).toBeNull();
});

test('the earlier contents of a file are shown, saved and restored', async () => {
  const content = (versionId: string, more = {}) => ({
    versionId,
    lastModified: '2026-01-31T12:00:00Z',
    size: 7,
    isLatest: false,
    isArchived: false,
    assetVersionIds: [],
    ...more,
  });
  const versions = [
    content('v3', { isLatest: true }),
    content('v2', { isArchived: true }),
    content('v1', { assetVersionIds: [{ id: '1', label: 'released' }] }),
  ];
  respond('get', `${ASSET}/fileInfo`, { versions });
  const downloads: unknown[] = [];
  respond('post', `${ASSET}/download`, async ({ request }) => {
    downloads.push(await request.json());
    return HttpResponse.json({ downloadUrl: 'http://storage.test/a.txt' });
  });
  const user = await openPage(PAGE);
  await user.click(await button('Versions of this file'));
  const window = await dialog();
  const oldest = (await within(window).findByText(/in version released/)).closest('li');
  if (!oldest) throw new Error('it is not in a list');
  expect(within(window).getAllByRole('button', { name: 'Restore' })).toHaveLength(1);
  await expectAccessible();
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
  await user.click(await button('Download', oldest));
  await waitFor(() =>
    expect(downloads.at(-1)).toMatchObject({ versionId: 'v1', attachment: true }),
  );
  click.mockRestore();
  const denied = { code: 'PermissionDenied', message: 'You may not' };
  respond('post', `${ASSET}/revertFileVersion/v1`, denied, { status: 403, once: true });
  await user.click(await button('Restore', oldest));
  await within(window).findByText('You may not.');
  respond('post', `${ASSET}/revertFileVersion/v1`, {});
  await user.click(await button('Restore', oldest));
  await screen.findByText(/^The file has this content again/);
  expect(sent).toContainEqual(expect.objectContaining({ body: { filePath: '/a.txt' } }));
  // What is shown behind the window is requested again.
  await waitFor(() => expect(downloads.at(-1)).toMatchObject({ key: '/a.txt', attachment: false }));
  await user.click(within(oldest).getByRole('link', { name: 'Look at it' }));
  await screen.findByText(/^You are looking at the content of .*2026/);
  await waitFor(() => expect(downloads.at(-1)).toMatchObject({ key: '/a.txt', versionId: 'v1' }));
  await user.click(screen.getByRole('link', { name: 'Back to the newest files' }));
  await waitFor(() => expect(screen.queryByText(/^You are looking at/)).toBeNull());
});
