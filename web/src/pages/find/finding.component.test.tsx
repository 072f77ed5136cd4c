// Around the hits: filters that fold, heads that sort, and the way from an asset to the next hit.
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { asset, hit, hits, respond, searches } from '../../testing/server';

test('a group of filters folds and stays so, unless it is in use', async () => {
  const facets = {
    ...hits(hit('lamp')),
    aggregations: {
      list_tags: { buckets: [{ key: 'brass', doc_count: 1, assets: 1 }] },
    },
  };
  respond('post', '/search', facets);
  const user = await openPage('/');
  await screen.findByLabelText(/^brass/);
  await user.click(await button('Tags'));
  await waitFor(() => expect(screen.queryByLabelText(/^brass/)).toBeNull());
  expect((await button('Tags')).ariaExpanded ?? 'false').toBe('false');
  await expectAccessible();
  document.body.replaceChildren();
  await openPage('/');
  await button('Tags');
  expect(screen.queryByLabelText(/^brass/)).toBeNull();
  document.body.replaceChildren();
  const again = await openPage(`/?facets=${encodeURIComponent('{"list_tags":["brass"]}')}`);
  await again.click(await screen.findByLabelText(/^brass/));
  await waitFor(() => expect(screen.queryByLabelText(/^brass/)).toBeNull());
  await again.click(await button('Tags'));
  await screen.findByLabelText(/^brass/);
});

test('the heads of the list sort it', async () => {
  const user = await openPage('/?view=list');
  const sorted = async (name: string, ...sort: object[]) => {
    await user.click(await button(new RegExp(`^${name}`)));
    await waitFor(() => expect(searches.at(-1)?.body).toMatchObject({ sort }));
  };
  const byName = { field: 'str_assetname', type: 'string' };
  await sorted('Name', { ...byName, order: 'asc' });
  await sorted('Name', { ...byName, order: 'desc' });
  await sorted('Changed', { field: 'date_lastmodified', order: 'desc', type: 'date' });
  await sorted('Changed', { field: 'date_lastmodified', order: 'asc', type: 'date' });
  await sorted(
    'Database',
    { field: 'str_databaseid', order: 'asc', type: 'string' },
    {
      ...byName,
      order: 'asc',
    },
  );
  expect((await button(/^Database/)).ariaPressed ?? 'true').toBe('true');
  await expectAccessible();
});

test('an asset leads back to the hits, and to the one before and after it', async () => {
  for (const name of ['lamp', 'gear'])
    respond('get', `/database/library/assets/${name}`, {
      ...asset,
      assetId: name,
      assetName: name,
    });
  const user = await openPage('/?q=metal');
  await user.click(await screen.findByRole('link', { name: 'lamp' }));
  await screen.findByRole('heading', { level: 1, name: 'lamp' });
  expect(screen.queryByRole('link', { name: /^Previous/ })).toBeNull();
  await user.click(await screen.findByRole('link', { name: 'Next: gear' }));
  await screen.findByRole('heading', { level: 1, name: 'gear' });
  await screen.findByRole('link', { name: 'Previous: lamp' });
  await expectAccessible();
  await user.click(screen.getByRole('link', { name: 'Results' }));
  await screen.findByLabelText('Select lamp');
  expect(location.search).toContain('q=metal');
});

test('an order and a filter that are chosen while typed words are pending are kept', async () => {
  const user = await openPage('/');
  await screen.findByRole('link', { name: 'lamp' });
  const box = screen.getByRole('combobox', { name: 'Search assets and files' });
  const archived = await screen.findByRole('checkbox', { name: /archived/i });
  await user.type(box, 'gear');
  fireEvent.change(screen.getByLabelText('Sort by'), { target: { value: 'newest' } });
  fireEvent.click(archived);
  await waitFor(() => expect(location.search).toContain('q=gear'));
  expect(location.search).toContain('sort=newest');
  expect(location.search).toContain('archived=true');
});
