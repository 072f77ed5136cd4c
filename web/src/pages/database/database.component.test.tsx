// The page of a database: its states, and two people who change its description.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { hit, hits, holdReply, respond, sent } from '../../testing/server';

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
  const { held, release } = holdReply();
  respond('post', '/search', async () => {
    await held;
    return HttpResponse.json(hits());
  });
  await openPage('/databases/library');
  await waitFor(() => expect(document.querySelectorAll('.pictures .picture')).toHaveLength(12));
  release();
  await screen.findByText('Pumps <b>and</b> houses');
  await screen.findByText('This database has no assets yet.');
  const link = screen.getByRole('link', { name: 'Upload into this database' });
  expect(link.getAttribute('href')).toContain('database=library');
});

test('a database that is not there says so', async () => {
  respond('get', PATH, { code: 'NotFound', message: 'x' }, { status: 404, once: true });
  await openPage('/databases/library');
  await screen.findByText('This database does not exist, or you may not see it.');
  screen.getByText(/send the address of this page to an administrator/);
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

const preview = (id: string) => ({ id, url: `/${id}.png`, expiresAt: '2999-01-01T00:00:00Z' });

test('the list shows the newest pictures of each database, and a database is created from it', async () => {
  const { held, release } = holdReply();
  respond('get', '/database', async () => {
    await held;
    return HttpResponse.json({ Items: [{ ...database, assetCount: 5 }] });
  });
  const newest = [1, 2, 3, 4, 5].map((at) => hit(`a${at}`, { preview: preview(`p${at}`) }));
  respond('post', '/search', hits(hit('unseen'), ...newest));
  respond('get', '/buckets', { Items: [{ bucketId: 'b1' }] });
  const user = await openPage('/databases');
  await waitFor(() => expect(document.querySelectorAll('.databases .newest')).toHaveLength(3));
  release();
  const link = await screen.findByRole('link', { name: 'library' });
  await waitFor(() => expect(link.querySelectorAll('img')).toHaveLength(4));
  await expectAccessible();
  await user.click(await button('New database'));
  const form = await dialog();
  const name = within(form).getByLabelText('Name of the database');
  await user.type(name, 'ab{Enter}');
  await waitFor(() => expect(name.ariaInvalid).toBe('true'));
  expect(document.activeElement).toBe(name);
  await user.type(name, 'c');
  await user.type(within(form).getByLabelText('Description of the database'), '  of pumps');
  const taken = { code: 'DatabaseExists', message: 'The database abc exists already' };
  respond('post', '/database', taken, { status: 409, once: true });
  await user.click(await button('Create', form));
  await within(form).findByText('The database abc exists already.');
  expect(name.ariaInvalid).toBe('true');
  expect(within(form).queryByLabelText('Bucket for its files')).toBeNull();
  respond('post', '/database', { databaseId: 'abc' });
  respond('get', '/database/abc', { ...database, databaseId: 'abc' });
  await user.click(await button('Create', form));
  await screen.findByRole('heading', { name: 'abc' });
  const body = { databaseId: 'abc', description: 'of pumps', defaultBucketId: 'b1' };
  expect(sent.map((request) => request.body)).toEqual([body, body]);
});

test('a database is created in one of several buckets', async () => {
  const buckets = ['one', 'two'].map((bucketName) => ({ bucketName, bucketId: bucketName }));
  respond('get', '/buckets', { Items: buckets.map((b) => ({ ...b, baseAssetsPrefix: 'in/' })) });
  respond('get', '/database', { Items: [] });
  respond('post', '/database', {});
  const user = await openPage('/databases');
  await user.click(await button('New database'));
  const form = await dialog();
  await user.type(within(form).getByLabelText('Name of the database'), 'abc');
  await user.type(within(form).getByLabelText('Description of the database'), 'of pumps');
  await user.selectOptions(await within(form).findByLabelText('Bucket for its files'), 'two/in/');
  await user.click(await button('Create', form));
  await screen.findByText('The database abc is created.');
  expect(sent.map((request) => request.body)).toMatchObject([{ defaultBucketId: 'two' }]);
});
