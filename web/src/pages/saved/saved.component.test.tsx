// Searches and assets that a user saves, in the profile that the server keeps.
import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { respond, sent } from '../../testing/server';

const PROFILE = '/auth/loginProfile/admin';
const profile = (...bookmarks: { name: string; address: string }[]) => ({
  message: { Items: [{ userId: 'admin', bookmarks }] },
});
const GEARS = { name: 'Large <b>gears</b>', address: '/?q=gear&size=%5B10%2Cnull%5D' };
const LAMP = { name: 'lamp', address: '/databases/library/assets/x1' };

test('a search is saved under a name, listed, opened and removed', async () => {
  const user = await openPage('/?q=gear&size=%5B10%2Cnull%5D');
  await user.click(await button('Save search'));
  const form = within(await dialog());
  const name = form.getByLabelText('Name');
  expect(name).toHaveProperty('value', 'gear');
  await user.clear(name);
  await user.click(form.getByRole('button', { name: 'Save' }));
  await form.findByText('Enter a name.');
  await user.type(name, GEARS.name);
  await expectAccessible();
  respond('post', PROFILE, profile(GEARS, LAMP));
  await user.click(form.getByRole('button', { name: 'Save' }));
  await screen.findByText(`${GEARS.name} is saved`);
  expect(sent.at(-1)?.body).toEqual({ addBookmarks: [GEARS] });
  document.body.replaceChildren();

  respond('get', PROFILE, profile(GEARS, LAMP));
  const later = await openPage('/saved');
  const link = await screen.findByRole('link', { name: GEARS.name });
  expect(link.getAttribute('href')).toBe(`/ui${GEARS.address}`);
  await screen.findByRole('link', { name: 'lamp' });
  await expectAccessible();
  respond('post', PROFILE, profile(LAMP));
  await later.click(await button(`Remove ${GEARS.name}`));
  await screen.findByText(/^Save a search above its results/);
  expect(sent.at(-1)?.body).toEqual({ removeBookmarks: [GEARS.address] });
});

test('an asset becomes a favourite, and is none again; a refusal is shown', async () => {
  const user = await openPage('/databases/library/assets/x1');
  const refusal = {
    code: 'InvalidInput',
    message: 'addBookmarks: a user can have at most 100 bookmarks, not 101',
  };
  respond('post', PROFILE, refusal, { status: 400, once: true });
  await user.click(await button('Add to favourites'));
  await screen.findByText('A user can have at most 100 bookmarks, not 101.');
  respond('post', PROFILE, profile(LAMP), { once: true });
  await user.click(await button('Add to favourites'));
  await screen.findByText('lamp is a favourite now');
  expect(sent.at(-1)?.body).toEqual({ addBookmarks: [LAMP] });
  respond('post', PROFILE, profile());
  await user.click(await button('Remove from favourites'));
  await waitFor(() => expect(sent.at(-1)?.body).toEqual({ removeBookmarks: [LAMP.address] }));
});
