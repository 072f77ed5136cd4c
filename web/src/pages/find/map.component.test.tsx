// The hits of a search that have places, on a map.
import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { hit, hits, respond, searches } from '../../testing/server';

const placed = (name: string, lon: number, lat: number) =>
  hit(name, {
    _source: {
      str_databaseid: 'library',
      str_assetid: name,
      str_assetname: name,
      geo_MD_location: { type: 'Point', coordinates: [lon, lat] },
    },
  });

/** Replies to the search of places with these hits, and without photographs. */
const reply = (...items: ReturnType<typeof hit>[]) =>
  respond('post', '/search', async ({ request }) => {
    const body = (await request.json()) as Record<string, unknown>;
    if (body.previews) return Response.json(hits(hit('lamp')));
    return Response.json(body.geoSearch ? hits(...items) : hits());
  });

test('places lead to their assets, and those that are near each other are listed', async () => {
  reply(placed('tower <b>', 8.5, 47.4), placed('bridge', -74, 40.7), placed('house', 8.6, 47.4));
  const user = await openPage('/?q=x');
  await user.click(await button('Map'));
  const map = within(await screen.findByRole('region', { name: 'Map' }));
  const link = await map.findByRole('link', { name: 'bridge' });
  expect(link.getAttribute('href')).toBe('/ui/databases/library/assets/bridge');
  map.getByText('3 places');
  await expectAccessible();
  await user.click(map.getByRole('button', { name: '2 places here' }));
  const here = within(map.getByRole('region', { name: '2 places here' }));
  here.getByRole('link', { name: /tower <b>$/ });
  here.getByRole('link', { name: /house$/ });
  await expectAccessible();
  for (let times = 0; times < 7; times++)
    await user.click(map.getByRole('button', { name: 'Zoom in' }));
  expect(map.queryByRole('link', { name: 'bridge' })).toBeNull();
  await user.click(map.getByRole('button', { name: 'Whole Earth' }));
  map.getByRole('link', { name: 'bridge' });
  const [places] = searches.filter(({ body }) => 'geoSearch' in (body as object));
  expect(places?.body).toMatchObject({ query: 'x', size: 100, foldFiles: true });
});

test('without places the page says what a place is; a refusal is shown', async () => {
  reply();
  await openPage('/?view=map');
  await screen.findByText(/^No asset of this search has a place/);
  await expectAccessible();
  document.body.replaceChildren();
  respond('post', '/search', async ({ request }) => {
    const { geoSearch } = (await request.json()) as Record<string, unknown>;
    if (!geoSearch) return Response.json(hits(hit('lamp')));
    return Response.json({ code: 'InvalidInput', message: 'Too heavy' }, { status: 400 });
  });
  await openPage('/?view=map');
  await screen.findByText(/Too heavy/);
});
