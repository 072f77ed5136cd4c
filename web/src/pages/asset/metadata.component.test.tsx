// The metadata of an asset and of a file: a form by the schema, refusals, and two people in it.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test, vi } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { ASSET, holdReply, respond, rightsTo, sent } from '../../testing/server';

const PAGE = '/databases/library/assets/x1';
const PATH = `${ASSET}/metadata`;
const form = () => screen.findByRole('form', { name: 'Edit the metadata' });
const done = { success: true, failedItems: [] };

const entry = (key: string, value: string, type = 'string', more = {}) => ({
  metadataKey: key,
  metadataValue: value,
  metadataValueType: type,
  ...more,
});
const inSchema = (more = {}) => ({ metadataSchemaField: true, metadataSchemaName: 's', ...more });

const store = (...metadata: object[]) =>
  respond('get', PATH, { metadata, restrictMetadataOutsideSchemas: false });

async function edit() {
  const user = await openPage(PAGE);
  await user.click(await button('Edit the metadata'));
  const field = (name: string | RegExp) => screen.getByLabelText(name);
  const type = async (name: string | RegExp, value: string) => {
    await user.clear(field(name));
    if (value) await user.paste(value);
  };
  await form();
  return { user, field, type, save: async () => user.click(await button('Save', await form())) };
}

test('values are changed by fields of their types, keys are added and removed', async () => {
  const choices = { metadataSchemaControlledListKeys: ['oak', 'pine'] };
  store(
    entry('mass', '12', 'number'),
    entry('note <b>', 'old'),
    entry('kept', 'as it is'),
    entry('wood', '', 'inline_controlled_list', inSchema(choices)),
    entry('shown', 'true', 'boolean', inSchema({ metadataSchemaRequired: true })),
    entry('made', '', 'date', inSchema({ metadataSchemaDependsOn: ['wood'] })),
  );
  const { user, field, type, save } = await edit();
  await expectAccessible();
  screen.getByText('Needs a value of wood.');
  await type('mass', '12.5');
  await user.selectOptions(field('wood'), 'oak');
  await user.selectOptions(field('shown (required)'), 'no');
  await type('made', '2024-05-17');
  await user.click(await button('Remove note <b>'));
  await user.click(await button('Add a key'));
  expect(document.activeElement).toBe(field('Key'));
  const suggestions = [
    { kind: 'key', text: 'place of origin' },
    { kind: 'value', text: 'placed' },
  ];
  respond('get', '/search/suggest', { suggestions });
  await user.paste('place');
  const offered = () => [...(document.querySelector('datalist')?.options ?? [])];
  await waitFor(() => expect(offered().map(({ value }) => value)).toEqual(['place of origin']));
  await user.selectOptions(field('Type'), 'Place (latitude, longitude, altitude)');
  await type('Value', '{"lat": 1, "long": 2, "alt": 3}');
  respond('put', PATH, done);
  respond('delete', PATH, done);
  await save();
  await screen.findByText('The metadata is saved.');
  expect(sent.map(({ method, body }) => [method, body])).toEqual([
    [
      'PUT',
      {
        metadata: [
          entry('mass', '12.5', 'number'),
          entry('wood', 'oak', 'inline_controlled_list'),
          entry('shown', 'false', 'boolean'),
          entry('made', '2024-05-17', 'date'),
          entry('place', '{"lat": 1, "long": 2, "alt": 3}', 'lla'),
        ],
      },
    ],
    ['DELETE', { metadataKeys: ['note <b>'] }],
  ]);
  await waitFor(() => expect(document.activeElement?.ariaLabel).toBe('Edit the metadata'));
});

test('the words of the server are at their fields, and nothing typed is lost', async () => {
  store(entry('mass', '12', 'number'), entry('note', 'old'));
  const { field, type, save } = await edit();
  await type('mass', 'heavy');
  await type('note', 'new');
  const errors = [{ field: 'metadata.0.metadataValue', message: 'must be a decimal number' }];
  respond('put', PATH, { code: 'InvalidInput', message: 'x', errors }, { status: 400, once: true });
  await save();
  const message = await screen.findByText('The value must be a decimal number.');
  expect(field('mass').getAttribute('aria-describedby')).toBe(message.id);
  await waitFor(() => expect(document.activeElement).toBe(field('mass')));
  expect(field('note').ariaInvalid).toBeNull();
  await expectAccessible();
  await type('mass', '13');
  const failedItems = [{ key: 'note', error: 'Another request is changing this key; try again' }];
  respond('put', PATH, { ...done, failedItems }, { once: true });
  store(entry('mass', '13', 'number'), entry('note', 'old'));
  await save();
  await screen.findByText('Another request is changing this key; try again');
  expect(field('note')).toHaveProperty('value', 'new');
  respond(
    'put',
    PATH,
    { code: 'SchemaViolation', message: 'metadata: "k" is required by s' },
    {
      status: 400,
      once: true,
    },
  );
  await save();
  await within(await form()).findByText('"k" is required by s.');
  respond('put', PATH, () => HttpResponse.error());
  await save();
  await within(await form()).findByText(/did not respond, and it is not known/);
  expect(field('note')).toHaveProperty('value', 'new');
  expect(sent.at(-1)?.body).toEqual({ metadata: [entry('note', 'new')] });
});

test('of two people who edit one asset, neither loses what was typed', async () => {
  store(entry('mass', '12'), entry('note', 'old'), entry('gone', 'x'));
  const { user, field, type, save } = await edit();
  await type('mass', 'mine');
  await type('gone', 'mine, too');
  store(entry('mass', '<b>theirs</b>'), entry('note', 'new'), entry('more', 'y'));
  await save();
  await screen.findByText(/^Someone else changed the same keys meanwhile/);
  expect(sent).toEqual([]);
  expect(field('mass')).toHaveProperty('value', 'mine');
  expect(field('note')).toHaveProperty('value', 'new');
  expect(field('more')).toHaveProperty('value', 'y');
  screen.getByText('<b>theirs</b>');
  screen.getByText('removed');
  await expectAccessible();
  const [first] = screen.getAllByRole('button', { name: 'Use theirs' });
  if (first) await user.click(first);
  expect(field('mass')).toHaveProperty('value', '<b>theirs</b>');
  respond('put', PATH, done);
  await save();
  await screen.findByText('The metadata is saved.');
  expect(sent.map(({ body }) => body)).toEqual([{ metadata: [entry('gone', 'mine, too')] }]);
});

test('a schema that changes while the form is open is reported, and typed values are kept', async () => {
  store(entry('mass', '12', 'number', inSchema()), entry('note', 'old'));
  const { field, type, save } = await edit();
  await type('note', 'new');
  const required = inSchema({ metadataSchemaRequired: true });
  store(
    entry('mass', '12', 'number', { ...required, metadataSchemaValueType: 'string' }),
    entry('note', 'old'),
    entry('wood', '', 'string', required),
  );
  await save();
  await screen.findByText(/^The metadata schema of mass and wood has changed meanwhile/);
  expect(sent).toEqual([]);
  expect(field('note')).toHaveProperty('value', 'new');
  await expectAccessible();
  await type('wood (required)', 'oak');
  await type('mass (required)', 'heavy');
  respond('put', PATH, done);
  await save();
  await screen.findByText('The metadata is saved.');
  // A value is written with the type that the schema has by now.
  const metadata = [entry('mass', 'heavy'), entry('note', 'new'), entry('wood', 'oak')];
  expect(sent.map(({ body }) => body)).toEqual([{ metadata }]);
});

test('a new key needs a name of its own, and a second press of Save sends nothing', async () => {
  store(entry('mass', '12'));
  const { user, field, save } = await edit();
  await user.click(await button('Add a key'));
  await save();
  await screen.findByText('A new key needs a name.');
  await waitFor(() => expect(document.activeElement).toBe(field('Key')));
  await user.paste('mass');
  await save();
  await screen.findByText('The key is there already.');
  await user.clear(field('Key'));
  await user.paste('length');
  const { held, release } = holdReply();
  respond('put', PATH, async () => {
    await held;
    return HttpResponse.json(done);
  });
  await user.dblClick(await button('Save', await form()));
  release();
  await screen.findByText('The metadata is saved.');
  expect(sent).toHaveLength(1);
});

test('leaving with changes asks, and only who may is offered to edit', async () => {
  store(entry('mass', '12'));
  const { user, field, type } = await edit();
  await type('mass', '13');
  const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
  await user.click(screen.getByRole('link', { name: /^Vitrine/ }));
  await waitFor(() => expect(confirm).toHaveBeenCalledOnce());
  expect(field('mass')).toHaveProperty('value', '13');
  confirm.mockReturnValue(true);
  document.body.replaceChildren();
  respond('post', '/auth/routes', rightsTo('/search', '/assets', '/databases'));
  await openPage(PAGE);
  await screen.findByRole('region', { name: 'Metadata' });
  expect(screen.queryByRole('button', { name: 'Edit the metadata' })).toBeNull();
});

test('a file has metadata of its own; keys outside of its schemas are not offered', async () => {
  const metadata = [entry('scanner', 'none', 'string', inSchema())];
  respond('get', `${PATH}/file`, { metadata, restrictMetadataOutsideSchemas: true });
  const user = await openPage(`${PAGE}?file=/a.txt`);
  await user.click(await button('Edit the metadata of the file'));
  await screen.findByText('This database accepts only the keys of its metadata schemas.');
  expect(screen.queryByRole('button', { name: 'Add a key' })).toBeNull();
  await user.type(screen.getByLabelText('scanner'), ' at all');
  respond('put', `${PATH}/file`, done);
  await user.keyboard('{Enter}');
  await screen.findByText('The metadata is saved.');
  expect(sent.map(({ body }) => body)).toEqual([
    { filePath: '/a.txt', type: 'metadata', metadata: [entry('scanner', 'none at all')] },
  ]);
});
