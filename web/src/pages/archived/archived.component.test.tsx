// The list of archived assets.
import { screen, waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { ASSET, asset, hit, hits, respond, rightsTo, searches, sent } from '../../testing/server';

const archived = hit('x1', {
  _source: {
    str_databaseid: 'library',
    str_assetid: 'x1',
    str_assetname: '<b>lamp',
    bool_archived: true,
  },
});

test('archived assets are named with who archived them, and restored', async () => {
  const archivedAt = '2026-01-31T12:00:00Z';
  respond('get', ASSET, { ...asset, status: 'archived', archivedBy: 'ann', archivedAt });
  respond('post', '/search', hits(archived));
  const user = await openPage('/archived');
  await screen.findByText('<b>lamp');
  await screen.findByText(/^archived by ann, .*2026/);
  await expectAccessible();
  expect(JSON.stringify(searches[0]?.body)).toContain('bool_archived:true');
  respond(
    'put',
    `${ASSET}/unarchiveAsset`,
    { code: 'Busy', message: 'It is being archived' },
    { status: 409, once: true },
  );
  await user.click(await button('Restore <b>lamp'));
  await screen.findByText('It is being archived.');
  respond('put', `${ASSET}/unarchiveAsset`, { jobState: 'done' });
  respond('post', '/search', hits());
  await user.click(await button('Restore <b>lamp'));
  await screen.findByText('The asset is restored.');
  await screen.findByText('No asset that you may see is archived.');
  expect(sent).toHaveLength(2);
});

test('who may not change assets is offered no restoring', async () => {
  respond('post', '/auth/routes', rightsTo('/search', '/assets'));
  respond('post', '/search', hits(archived));
  await openPage('/archived');
  await screen.findByText('<b>lamp');
  await waitFor(() => expect(screen.queryByRole('button', { name: /^Restore/ })).toBeNull());
});
