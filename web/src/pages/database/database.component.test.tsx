// The page of a database: its states, and two people who change its description.
import { screen, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { hits, holdReply, respond, sent } from '../../testing/server';

const PATH = '/database/library';
const database = {
  databaseId: 'library',
  description: 'Pumps <b>and</b> houses',
  assetCount: 0,
  dateCreated: '2026-01-31T12:00:00Z',
};
const form = () => screen.findByRole('form', { name: 'Edit the description' });

async function edit(description: string) {
  respond('get', PATH, database);
  const user = await openPage('/databases/library');
  await user.click(await button('Edit the description'));
  const field = screen.getByLabelText('Description');
  await user.clear(field);
  await user.type(field, description);
  return { user, field, save: async () => user.click(await button('Save', await form())) };
}

test('an empty database shows its description as text, and leads to an upload', async () => {
  respond('get', PATH, database);
  respond('post', '/search', hits());
  await openPage('/databases/library');
  await screen.findByText('Pumps <b>and</b> houses');
  await screen.findByText('This database has no assets yet.');
  const link = screen.getByRole('link', { name: 'Upload into this database' });
  expect(link.getAttribute('href')).toContain('database=library');
});

test('a database that is not there says so', async () => {
  respond('get', PATH, { code: 'NotFound', message: 'x' }, { status: 404, once: true });
  await openPage('/databases/library');
  await screen.findByText('This database does not exist, or you may not see it.');
});

test('a lost connection is named, and another try shows the database', async () => {
  respond('get', PATH, () => HttpResponse.error());
  const user = await openPage('/databases/library');
  await screen.findByText(/^The server did not respond/, {}, { timeout: 20_000 });
  respond('get', PATH, database);
  await user.click(await button('Try again'));
  await screen.findByText('Pumps <b>and</b> houses');
});

test('of two people who change a description, neither loses what was typed', async () => {
  const { user, field, save } = await edit('by one');
  respond('put', PATH, { code: 'Changed', message: 'x' }, { status: 412, once: true });
  const theirs = { ...database, description: 'by the other' };
  respond('get', PATH, theirs, { headers: { etag: '"2"' } });
  await save();
  await screen.findByText(/^Someone else changed the description meanwhile/);
  within(await form()).getByText('by the other');
  await expectAccessible();
  expect(field).toHaveProperty('value', 'by one');
  const { held, release } = holdReply();
  respond('put', PATH, async () => {
    await held;
    return HttpResponse.json({});
  });
  await user.dblClick(await button('Save', await form()));
  release();
  await screen.findByText('The changes are saved.');
  // A second press while it is saved sends nothing.
  expect(sent.map(({ body }) => body)).toEqual(Array(2).fill({ description: 'by one' }));
});

test('a short description is refused beside its field', async () => {
  const { field, save } = await edit('x');
  await save();
  await screen.findByText('The description needs at least four characters.');
  expect(field.ariaInvalid).toBe('true');
  expect(document.activeElement).toBe(field);
  expect(sent).toEqual([]);
});

test('an ended sign-in asks for another one over the form, which keeps what was typed', async () => {
  const { user, field, save } = await edit('typed with the first key');
  respond('put', PATH, { message: 'Forbidden' }, { status: 403, once: true });
  await save();
  const dialog = await screen.findByRole('dialog', { name: 'Your sign-in has ended' });
  await user.type(within(dialog).getByLabelText('API key'), 'vams_next');
  await user.click(await button('Sign in', dialog));
  await screen.findByText(/^Your sign-in ended before this was done/);
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(field).toHaveProperty('value', 'typed with the first key');
  respond('put', PATH, {});
  await save();
  await screen.findByText('The changes are saved.');
});
