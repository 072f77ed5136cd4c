// The metadata of an asset and of a file: a form by the schema, refusals, and two people in it.
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test, vi } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { ASSET, hit, hits, holdReply, PLACE, respond, rightsTo, sent } from '../../testing/server';

const PAGE = '/databases/library/assets/x1';
const PATH = `${ASSET}/metadata`;
const form = () => screen.findByRole('form', { name: 'Edit the metadata' });
const BATCH = '/metadata/batch';

/** The reply to the only entity of a request. */
const reply = (result: { status: number } & Record<string, unknown> = { status: 200 }) =>
  respond('put', BATCH, { success: true, results: [{ message: 'x', ...result }] });
const record = (key: string, value: string, expected: string | null, type = 'string') => ({
  ...entry(key, value, type),
  expectedValue: expected,
});
const edited = () =>
  sent.flatMap(({ path, body }) => {
    expect(path).toBe(BATCH);
    return (body as { entities: { metadata: unknown; removals: unknown }[] }).entities;
  });

const entry = (key: string, value: string, type = 'string', more = {}) => ({
  metadataKey: key,
  metadataValue: value,
  metadataValueType: type,
  ...more,
});
/** As it is stored. */
const stored = (key: string, value: string, type = 'string', more = {}) =>
  entry(key, value, type, { metadataStored: true, ...more });
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
    stored('mass', '12', 'number'),
    stored('note <b>', 'old'),
    stored('kept', 'as it is'),
    entry('wood', '', 'inline_controlled_list', inSchema(choices)),
    stored('shown', 'true', 'boolean', inSchema({ metadataSchemaRequired: true })),
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
  reply();
  await save();
  await screen.findByText('The metadata is saved.');
  expect(edited()).toEqual([
    {
      ...PLACE,
      metadata: [
        record('mass', '12.5', '12', 'number'),
        record('wood', 'oak', null, 'inline_controlled_list'),
        record('shown', 'false', 'true', 'boolean'),
        record('made', '2024-05-17', null, 'date'),
        record('place', '{"lat": 1, "long": 2, "alt": 3}', null, 'lla'),
      ],
      removals: [{ metadataKey: 'note <b>', expectedValue: 'old' }],
    },
  ]);
  await waitFor(() => expect(document.activeElement?.ariaLabel).toBe('Edit the metadata'));
});

test('the words of the server are at their fields, and nothing typed is lost', async () => {
  store(stored('mass', '12', 'number'), stored('note', 'old'));
  const { user, field, type, save } = await edit();
  await type('mass', 'heavy');
  await user.click(await button('Remove note'));
  const errors = [
    { field: 'metadata.0.metadataValue', message: 'must be a decimal number' },
    { field: 'removals.0.metadataKey', message: '"note" is reserved' },
  ];
  reply({ status: 400, code: 'InvalidInput', errors });
  await save();
  const message = await screen.findByText('The value must be a decimal number.');
  screen.getByText('"note" is reserved.');
  expect(field('mass').getAttribute('aria-describedby')).toBe(message.id);
  await waitFor(() => expect(document.activeElement).toBe(field('mass')));
  await expectAccessible();
  await user.click(await button('Keep note'));
  await type('mass', '13');
  const required = 'metadata: "k" is required by s';
  reply({ status: 400, code: 'SchemaViolation', message: required });
  await save();
  await within(await form()).findByText('"k" is required by s.');
  expect(field('note').ariaInvalid).toBeNull();
  respond('put', BATCH, () => HttpResponse.error());
  await save();
  await within(await form()).findByText(/did not respond, and it is not known/);
  expect(field('mass')).toHaveProperty('value', '13');
  expect(edited().at(-1)?.metadata).toEqual([record('mass', '13', '12', 'number')]);
});

test('of two people who edit one asset, neither loses what was typed', async () => {
  store(stored('mass', '12'), stored('note', 'old'), stored('gone', 'x'));
  const { user, field, type, save } = await edit();
  await type('mass', 'mine');
  await type('gone', 'mine, too');
  store(stored('mass', '<b>theirs</b>'), stored('note', 'new'), stored('more', 'y'));
  const conflicts = [{ metadataKey: 'mass', expectedValue: '12', storedValue: '<b>theirs</b>' }];
  reply({ status: 409, code: 'MetadataChanged', conflicts });
  await save();
  await screen.findByText(/^Someone else changed the same keys meanwhile/);
  expect(edited()[0]?.metadata).toEqual([
    record('mass', 'mine', '12'),
    record('gone', 'mine, too', 'x'),
  ]);
  expect(field('mass')).toHaveProperty('value', 'mine');
  expect(field('note')).toHaveProperty('value', 'new');
  expect(field('more')).toHaveProperty('value', 'y');
  screen.getByText('<b>theirs</b>');
  screen.getByText('removed');
  await expectAccessible();
  const [first] = screen.getAllByRole('button', { name: 'Use theirs' });
  if (first) await user.click(first);
  expect(field('mass')).toHaveProperty('value', '<b>theirs</b>');
  reply();
  await save();
  await screen.findByText('The metadata is saved.');
  expect(edited()[1]?.metadata).toEqual([record('gone', 'mine, too', null)]);
});

test('a schema that changes while the form is open is reported, and typed values are kept', async () => {
  store(stored('mass', '12', 'number', inSchema()), stored('note', 'old'));
  const { field, type, save } = await edit();
  await type('note', 'new');
  const required = inSchema({ metadataSchemaRequired: true });
  store(
    stored('mass', '12', 'number', { ...required, metadataSchemaValueType: 'string' }),
    stored('note', 'old'),
    entry('wood', '', 'string', required),
  );
  reply({ status: 400, code: 'SchemaViolation', message: 'metadata: "wood" is required by s' });
  await save();
  await screen.findByText(/^The metadata schema of mass and wood has changed meanwhile/);
  // Where the message is, which new fields have moved out of sight.
  await waitFor(async () =>
    expect(document.activeElement).toBe(await button('Save', await form())),
  );
  expect(field('note')).toHaveProperty('value', 'new');
  await expectAccessible();
  await type('wood (required)', 'oak');
  await type('mass (required)', 'heavy');
  reply();
  await save();
  await screen.findByText('The metadata is saved.');
  // A value is written with the type that the schema has by now.
  expect(edited()[1]?.metadata).toEqual([
    record('mass', 'heavy', '12'),
    record('note', 'new', 'old'),
    record('wood', 'oak', null),
  ]);
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
  respond('put', BATCH, async () => {
    await held;
    return HttpResponse.json({ results: [{ status: 200, message: 'x' }] });
  });
  await user.dblClick(await button('Save', await form()));
  release();
  await screen.findByText('The metadata is saved.');
  expect(sent).toHaveLength(1);
});

test('a date without one of its parts is refused at its field, and its value is kept', async () => {
  store(stored('made', '2024-05-17', 'date'));
  const { field, save } = await edit();
  const made = field('made');
  Object.defineProperty(made, 'validity', { value: { badInput: true }, configurable: true });
  fireEvent.input(made, { target: { value: '' } });
  await save();
  await screen.findByText('Enter a whole date.');
  expect(field('made').ariaInvalid).toBe('true');
  expect(sent).toEqual([]);
  Object.defineProperty(made, 'validity', { value: { badInput: false } });
  fireEvent.input(made, { target: { value: '2024-06-17' } });
  reply();
  await save();
  await screen.findByText('The metadata is saved.');
  expect(edited()).toMatchObject([
    { metadata: [record('made', '2024-06-17', '2024-05-17', 'date')] },
  ]);
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
  const metadata = [stored('scanner', 'none', 'string', inSchema())];
  respond('get', `${PATH}/file`, { metadata, restrictMetadataOutsideSchemas: true });
  const user = await openPage(`${PAGE}?file=/a.txt`);
  await user.click(await button('Edit the metadata of the file'));
  await screen.findByText('This database accepts only the keys of its metadata schemas.');
  expect(screen.queryByRole('button', { name: 'Add a key' })).toBeNull();
  await user.type(screen.getByLabelText('scanner'), ' at all');
  reply();
  await user.keyboard('{Enter}');
  await screen.findByText('The metadata is saved.');
  expect(edited()).toEqual([
    {
      ...PLACE,
      filePath: '/a.txt',
      metadata: [record('scanner', 'none at all', 'none')],
      removals: [],
    },
  ]);
});

test('places that searches do not find are named', async () => {
  store(stored('site', '{}', 'geojson'));
  const places = hit('lamp');
  const list_warnings = ['Filters by location may not find site'];
  respond('post', '/search', hits({ ...places, _source: { ...places._source, list_warnings } }));
  await openPage(PAGE);
  await screen.findByText('Filters by location may not find site.');
});

test('a place is on a map beside its value; what is none has no map', async () => {
  const many = { type: 'MultiPoint', coordinates: Array.from({ length: 10_000 }, () => [8, 47]) };
  const outline = '{"type":"LineString","coordinates":[[179,-40.7],[-179,-41]]}';
  store(
    stored('site <b>', '{"lat": 47.4, "long": 8.52, "alt": 400}', 'lla'),
    stored('route', outline, 'geojson'),
    stored('wild', '<b>nowhere</b>', 'geopoint'),
    stored('many', JSON.stringify(many), 'geojson'),
    stored('note', outline),
  );
  await openPage(PAGE);
  const map = await screen.findByRole('img', { name: 'site <b> on a map: 47.4° N, 8.5° E' });
  expect(map.querySelector('.places')?.getAttribute('d')).toBe('M8.52 -47.4h0');
  expect(map.closest('dd')?.textContent).toBe('lat\u00a047.4, long\u00a08.52, alt\u00a0400');
  const other = screen.getByRole('img', { name: 'route on a map: 40.7° S, 179° E' });
  const lines = 'M179 40.7L181 41h0M539 40.7L541 41h0M-181 40.7L-179 41h0';
  expect(other.querySelector('.places')?.getAttribute('d')).toBe(lines);
  expect(screen.getAllByRole('img', { name: / on a map/ })).toHaveLength(2);
  await expectAccessible();
});
