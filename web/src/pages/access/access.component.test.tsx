// Access: a role for a person, what a person may, taking it away, and why something is allowed.
import { screen, waitFor, within } from '@testing-library/react';
import { beforeEach, expect, test } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { hit, hits, respond, rightsTo, sent } from '../../testing/server';

const rule = (id: string, objectType: string, role: string, permissionType = 'allow') => ({
  constraintId: id,
  name: `${role}: ${objectType}`,
  description: 'x',
  objectType,
  criteriaAnd: [
    objectType === 'api'
      ? { field: 'route__path', operator: 'contains', value: '.*' }
      : { field: 'databaseId', operator: 'equals', value: 'library' },
  ],
  criteriaOr: [],
  groupPermissions: [{ groupId: role, permission: 'GET', permissionType }],
  userPermissions: [],
});
const role = (roleName: string, more = {}) => ({
  roleName,
  description: `The ${roleName} <b>`,
  createdOn: '',
  mfaRequired: false,
  ...more,
});

beforeEach(() => {
  const pages = ['/search', '/assets', '/databases', '/upload', '/auth/userroles'];
  respond('post', '/auth/routes', rightsTo(...pages));
  respond('get', '/database/library', { databaseId: 'library', description: 'x', assetCount: 2 });
  respond('get', '/roles', { Items: [role('admin'), role('closed'), role('readers')] });
  respond('get', '/user-roles', {
    Items: [
      { userId: 'admin', roleName: ['admin'], createdOn: '' },
      { userId: 'rita', roleName: ['closed', 'readers'], createdOn: '' },
    ],
  });
  respond('get', '/auth/constraints', {
    Items: [
      rule('r1', 'api', 'readers'),
      rule('r2', 'asset', 'readers'),
      { ...rule('c1', 'asset', 'closed', 'deny'), criteriaAnd: [] },
      rule('c2', 'api', 'closed'),
    ],
  });
});

test('a person gets a role, which says what it allows; those for the database come first', async () => {
  const user = await openPage('/databases/library');
  await user.click(await button('Give access'));
  const form = within(await dialog());
  const radios = await form.findAllByRole('radio');
  expect(radios.map((radio) => radio.closest('.role')?.textContent)).toEqual([
    'readers for this databaseThe readers <b>',
    'admin The admin <b>',
    'closed The closed <b>',
  ]);
  await user.click(form.getByRole('button', { name: 'Give' }));
  await form.findByText('Enter the name of a person.');
  expect(document.activeElement).toBe(form.getByLabelText('Person'));
  await user.keyboard('rita');
  await user.click(form.getByRole('radio', { name: /^readers/ }));
  form.getByText('May see assets whose database is library');
  await expectAccessible();
  const refusal = { code: 'UserRoleExists', message: 'rita has the role readers already' };
  respond('post', '/user-roles', refusal, { status: 409, once: true });
  await user.click(form.getByRole('button', { name: 'Give' }));
  await form.findByText(/rita has the role readers already/);
  respond('post', '/user-roles', { message: 'done' });
  await user.click(form.getByRole('button', { name: 'Give' }));
  await screen.findByText('rita has the role readers now');
  expect(sent.at(-1)?.body).toEqual({ userId: 'rita', roleName: ['readers'] });
});

test('a role that would lock its giver out is asked again, with what would be lost', async () => {
  const user = await openPage('/databases/library');
  await user.click(await button('Give access'));
  const form = within(await dialog());
  await user.type(await form.findByLabelText('Person'), 'admin');
  await user.click(await form.findByRole('radio', { name: /^closed/ }));
  await user.click(form.getByRole('button', { name: 'Give' }));
  await form.findByText('This changes what you yourself may do. The role has these rules:');
  expect(form.getAllByText('May not see all assets')).toHaveLength(2);
  expect(sent).toEqual([]);
  respond('post', '/user-roles', { message: 'done' });
  await user.click(form.getByRole('button', { name: 'Do it nevertheless' }));
  await screen.findByText('admin has the role closed now');
});

test('one place lists what a person may, and takes it away; the last role, too', async () => {
  const user = await openPage('/access');
  await user.type(await screen.findByLabelText('Person'), 'rita{Enter}');
  await screen.findByRole('heading', { name: 'Roles of rita' });
  await screen.findByText('May see assets whose database is library');
  await expectAccessible();
  await user.click(await button('Take readers from rita'));
  const confirm = within(await dialog());
  confirm.getByText('May see assets whose database is library');
  respond('put', '/user-roles', { message: 'done' });
  respond('get', '/user-roles', { Items: [{ userId: 'rita', roleName: ['closed'] }] });
  await user.click(confirm.getByRole('button', { name: 'Take away' }));
  await screen.findByText('rita no longer has the role readers');
  expect(sent.at(-1)).toMatchObject({
    method: 'PUT',
    body: { userId: 'rita', roleName: ['closed'] },
  });
  await waitFor(() =>
    expect(screen.queryByRole('button', { name: 'Take readers from rita' })).toBeNull(),
  );
  await user.click(await button('Take closed from rita'));
  respond('delete', '/user-roles', { message: 'done' });
  await user.click(within(await dialog()).getByRole('button', { name: 'Take away' }));
  await waitFor(() =>
    expect(sent.at(-1)).toMatchObject({ method: 'DELETE', body: { userId: 'rita' } }),
  );
});

test('a role of one’s own is taken away in other words, and the server’s refusal is shown', async () => {
  const user = await openPage('/access?user=admin');
  await user.click(await button('Take admin from admin'));
  const confirm = within(await dialog());
  confirm.getByText('This changes what you yourself may do, and you may not be able to undo it.');
  confirm.getByText('Everything, in all databases, and giving access to others.');
  const refusal = { code: 'LastAdministrator', message: 'admin is the last administrator' };
  respond('delete', '/user-roles', refusal, { status: 409 });
  await user.click(confirm.getByRole('button', { name: 'Do it nevertheless' }));
  await confirm.findByText(/admin is the last administrator/);
});

test.each([
  ['allow', 'allow', /^Yes\. Allowed by the rule “readers: api” of the role readers\./],
  ['allow', 'deny', /^No\. Forbidden by the rule “closed: asset” of the role closed\./],
  ['deny', 'allow', /^No\. No rule of theirs allows such requests at all\./],
])('a request that is %s and an object that is %s are explained', async (first, second, words) => {
  const user = await openPage('/access?user=rita');
  await user.selectOptions(await screen.findByLabelText('What'), 'Download its files');
  await user.click(await button('Check'));
  await screen.findByText('Choose a database.');
  await user.selectOptions(await screen.findByLabelText('Database'), 'library');
  respond('post', '/search', hits(hit('lamp')));
  await user.selectOptions(await screen.findByLabelText('Asset'), 'lamp');
  let address = new URL('http://vitrine.test');
  respond('get', '/auth/explain', ({ request }) => {
    address = new URL(request.url);
    const by = (constraintId: string, givenTo: string) => [{ constraintId, givenTo }];
    return Response.json({
      userId: 'rita',
      roles: ['closed', 'readers'],
      tier1: { decision: first, by: first === 'allow' ? by('r1', 'role#readers') : [] },
      tier2: {
        decision: second,
        by: second === 'allow' ? by('r2', 'role#readers') : by('c1', 'role#closed'),
      },
    });
  });
  await user.click(await button('Check'));
  await screen.findByText(
    (_, element) => element?.tagName === 'P' && words.test(element.textContent),
  );
  screen.getByText('Roles in effect: closed and readers.');
  expect(Object.fromEntries(address.searchParams)).toEqual({
    userId: 'rita',
    method: 'POST',
    route: '/database/{databaseId}/assets/{assetId}/download',
    databaseId: 'library',
    assetId: 'lamp',
    mfa: 'false',
  });
  await expectAccessible();
});

test('who may not give access is offered none', async () => {
  respond('post', '/auth/routes', rightsTo('/search', '/assets', '/databases'));
  await openPage('/databases/library');
  await screen.findByRole('heading', { name: 'library' });
  expect(screen.queryByRole('button', { name: 'Give access' })).toBeNull();
  document.body.replaceChildren();
  await openPage('/access');
  await screen.findByText('Only people who may give access see this page.');
});
