// Around the hits: filters that fold, heads that sort, and the way from an asset to the next hit.
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { columns } from '../../api/columns';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { clearUserData } from '../../session/signIn';
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

test('the columns of the list are chosen, filled, sorted by and remembered', async () => {
  const lamp = hit('lamp', {
    files: [
      { _source: { AB_: { fact_triangles: '90000' } } },
      { _source: { AB_: { fact_triangles: '3', fact_volume: '2', fact_unit: 'metre' } } },
    ],
  });
  const MD_ = { material: '<b>brass</b>' };
  respond('post', '/search', hits({ ...lamp, _source: { ...lamp._source, MD_ } }));
  const user = await openPage('/?view=list');
  await user.click(await button('Columns'));
  await user.click(await screen.findByRole('checkbox', { name: 'Database' }));
  for (const fact of ['Triangles', 'Volume']) await user.click(screen.getByLabelText(fact));
  await user.type(within(await dialog()).getByLabelText('Key'), 'material{Enter}');
  await user.click(await screen.findByRole('checkbox', { name: 'Files' }));
  expect(screen.getByLabelText('Watertight')).toHaveProperty('disabled', true);
  await expectAccessible();
  await user.click(await button('Done'));
  for (const value of ['90,000', '2 m³', '<b>brass</b>']) await screen.findByText(value);
  expect(screen.queryByText('library')).toBeNull();
  const heads = await screen.findByRole('group', { name: 'Sort by' });
  const sorted = async (name: string, ...sort: object[]) => {
    await user.click(await button(new RegExp(`^${name}`), heads));
    await waitFor(() => expect(searches.at(-1)?.body).toMatchObject({ sort }));
  };
  await sorted('Triangles', { field: 'fact_triangles', order: 'desc' });
  const byKey = { field: 'metadata.material', order: 'asc' };
  await sorted('material', { ...byKey, type: 'number' }, { ...byKey, type: 'string' });
  const fields = ['AB_.fact_triangles', 'AB_.fact_volume', 'MD_.material', 'AB_.fact_unit'];
  const { sourceFields } = searches.at(-1)?.body as { sourceFields: string[] };
  expect(sourceFields.slice(-4)).toEqual(fields);
  const kept = ['type', 'size', 'tags', 'changed', 'fact_triangles', 'fact_volume'];
  expect(columns.current()).toEqual([...kept, 'metadata.material', 'files']);
  clearUserData();
  expect(columns.current()).toEqual([...kept, 'files']);
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
