// The metadata of selected assets in one table: typed, filled, read from a file, saved, refused.
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { http, HttpResponse } from 'msw';
import { beforeEach, expect, test, vi } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { hit, hits, respond, sent, server } from '../../testing/server';

const saved = vi.hoisted(() => ({ texts: [] as Promise<string>[] }));
vi.mock('../../ui/saveFile', () => ({
  saveFile: (file: Blob) => void saved.texts.push(file.text()),
}));

const entry = (key: string, value: string, more: Record<string, unknown> = {}) => ({
  metadataKey: key,
  metadataValue: value,
  metadataValueType: 'string',
  metadataStored: true,
  ...more,
});
const WOOD = {
  metadataStored: false,
  metadataSchemaField: true,
  metadataSchemaValueType: 'inline_controlled_list',
  metadataValueType: 'inline_controlled_list',
  metadataSchemaControlledListKeys: ['oak', 'pine'],
};
const of = (name: string) => `/database/library/assets/${name}/metadata`;
const store = (name: string, ...metadata: object[]) => respond('get', of(name), { metadata });
const BATCH = '/metadata/batch';

beforeEach(() => {
  // A virtual list shows what fits its element, which has no size without a layout.
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(600);
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(900);
});

/** Replies to each entity of a request; `done` if there is no other reply. */
function replyToBatch(...replies: ({ status: number } & Record<string, unknown>)[]) {
  respond('put', BATCH, async ({ request }) => {
    const { entities } = (await request.clone().json()) as { entities: object[] };
    const results = entities.map((_, at) => replies[at] ?? { status: 200, message: 'done' });
    return HttpResponse.json({ success: true, results });
  });
}

async function openTable(names: string[]) {
  respond('post', '/search', hits(...names.map((name) => hit(name))));
  const user = await openPage('/');
  for (const name of names) await user.click(await screen.findByLabelText(`Select ${name}`));
  await user.click(await screen.findByRole('link', { name: 'Edit metadata' }));
  await screen.findByRole('heading', { name: /^Metadata of/ });
  const cell = (row: number, column: number) => {
    const element = document.querySelector<HTMLElement>(
      `[data-row="${row}"][data-column="${column}"]`,
    );
    if (!element) throw new Error(`there is no cell ${row}, ${column}`);
    return element;
  };
  await screen.findByRole('grid');
  return { user, cell, save: async () => user.click(await button('Save')) };
}

const entities = () => sent.flatMap(({ body }) => (body as { entities: unknown[] }).entities);

test('a value of all assets is typed once, previewed, and saved in one request', async () => {
  store('a', entry('mass', '1', { metadataValueType: 'number' }), entry('wood', '', WOOD));
  store('b', entry('mass', '2', { metadataValueType: 'number' }), entry('wood', '', WOOD));
  const { user, save } = await openTable(['a', 'b']);
  await expectAccessible();
  const all = screen.getByLabelText('mass of all assets');
  expect(all).toHaveProperty('placeholder', 'Several values');
  await user.type(all, '12');
  await user.selectOptions(screen.getByLabelText('wood of all assets'), 'oak');
  await screen.findByText('4 values of 2 assets to save');
  const changes = within(screen.getByRole('region', { name: 'What changes' }));
  const rows = changes.getAllByRole('row').map(({ textContent }) => textContent);
  expect(rows.slice(1)).toEqual(['amass112', 'awoodno valueoak', 'bmass212', 'bwoodno valueoak']);
  replyToBatch();
  await save();
  await screen.findByText('4 values of 2 assets saved');
  await screen.findByText('Nothing has been changed.');
  expect(sent.map(({ path }) => path)).toEqual([BATCH]);
  expect(entities()).toEqual([
    {
      databaseId: 'library',
      assetId: 'a',
      metadata: [
        {
          metadataKey: 'mass',
          metadataValue: '12',
          metadataValueType: 'number',
          expectedValue: '1',
        },
        {
          metadataKey: 'wood',
          metadataValue: 'oak',
          metadataValueType: 'inline_controlled_list',
          expectedValue: null,
        },
      ],
      removals: [],
    },
    expect.objectContaining({ assetId: 'b' }),
  ]);
});

test('cells are reached, edited, emptied and left by keys', async () => {
  store('a', entry('mass', '1'), entry('note', 'old'));
  store('b', entry('note', 'x <b>'));
  const { user, cell, save } = await openTable(['a', 'b']);
  cell(0, 0).focus();
  await user.keyboard('{ArrowRight}{Enter}');
  await waitFor(() => expect(document.activeElement?.ariaLabel).toBe('a, note'));
  await user.keyboard(' and new{Escape}');
  await waitFor(() => expect(cell(0, 1).textContent).toBe('old'));
  await waitFor(() => expect(document.activeElement).toBe(cell(0, 1)));
  await user.keyboard('{Delete}{ArrowDown}7');
  await waitFor(() => expect(document.activeElement?.ariaLabel).toBe('b, note'));
  await user.keyboard('8{Enter}');
  await waitFor(() => expect(cell(1, 1).textContent).toBe('78'));
  await user.click(cell(1, 0));
  await user.keyboard('5{Tab}');
  await waitFor(() => expect(document.activeElement).toBe(cell(1, 1)));
  await expectAccessible();
  replyToBatch();
  await save();
  await screen.findByText('3 values of 2 assets saved');
  expect(entities()).toMatchObject([
    { metadata: [], removals: [{ metadataKey: 'note', expectedValue: 'old' }] },
    {
      metadata: [
        { metadataKey: 'note', metadataValue: '78', expectedValue: 'x <b>' },
        { metadataKey: 'mass', metadataValue: '5', expectedValue: null },
      ],
    },
  ]);
});

test('dates without one of their parts empty no cell, and are refused by name', async () => {
  for (const name of ['a', 'b'])
    store(name, entry('made', '2024-05-17', { metadataValueType: 'date' }), entry('mass', '1'));
  const { user, save } = await openTable(['a', 'b']);
  await user.type(screen.getByLabelText('mass of all assets'), '2');
  const made = screen.getByLabelText('made of all assets');
  Object.defineProperty(made, 'validity', { value: { badInput: true } });
  fireEvent.input(made, { target: { value: '' } });
  await screen.findByText('2 values of 2 assets to save');
  await save();
  await screen.findByText('made of all assets: Enter a whole date.');
  expect(document.activeElement).toBe(made);
  expect(sent).toEqual([]);
});

test('of two people in one table, each value of both waits for a choice; others are saved', async () => {
  for (const name of ['a', 'b', 'c']) store(name, entry('mass', '1'), entry('note', 'n'));
  const { user, save } = await openTable(['a', 'b', 'c']);
  await user.clear(screen.getByLabelText('mass of all assets'));
  await user.type(screen.getByLabelText('mass of all assets'), '12');
  const conflicts = [{ metadataKey: 'mass', expectedValue: '1', storedValue: '<b>9</b>' }];
  const conflict = { status: 409, code: 'MetadataChanged', message: 'x', conflicts };
  replyToBatch(conflict, { status: 200 }, conflict);
  store('a', entry('mass', '<b>9</b>'), entry('note', 'theirs'));
  store('c', entry('note', 'n'));
  await save();
  const region = within(
    await screen.findByRole('region', { name: /^Someone else has changed these values/ }),
  );
  await screen.findByText('1 value saved; 2 values could not be saved');
  region.getByText('<b>9</b>');
  region.getByText('removed');
  await expectAccessible();
  expect(await button('Save')).toHaveProperty('disabled', true);
  await user.click(await button('Keep yours: a, mass'));
  await user.click(await button('Use theirs: c, mass'));
  expect(screen.queryByText(/^Someone else/)).toBeNull();
  replyToBatch();
  await save();
  await screen.findByText('1 value of 1 asset saved');
  expect(entities().at(-1)).toMatchObject({
    assetId: 'a',
    metadata: [{ metadataValue: '12', expectedValue: '<b>9</b>' }],
  });
  expect(screen.getByLabelText('note of all assets')).toHaveProperty('value', '');
});

test('what is refused is named by its asset and key, and nothing typed is lost', async () => {
  store('a', entry('mass', '1', { metadataValueType: 'number' }));
  store('b', entry('mass', '1', { metadataValueType: 'number' }));
  respond(
    'get',
    of('gone'),
    { code: 'AssetNotFound', message: 'The asset was not found' },
    { status: 404 },
  );
  const { user, cell, save } = await openTable(['a', 'b', 'gone']);
  await screen.findByText('These assets cannot be read');
  screen.getByText('The asset was not found.');
  await user.clear(screen.getByLabelText('mass of all assets'));
  await user.type(screen.getByLabelText('mass of all assets'), 'heavy');
  replyToBatch(
    {
      status: 400,
      code: 'InvalidInput',
      message: 'x',
      errors: [{ field: 'metadata.0.metadataValue', message: 'must be a decimal number' }],
    },
    { status: 403, code: 'PermissionDenied', message: 'You do not have permission' },
  );
  await save();
  await screen.findByText('The value must be a decimal number.');
  screen.getByText('You do not have permission.');
  expect(cell(0, 0).ariaInvalid).toBe('true');
  expect(cell(1, 0).textContent).toBe('heavy');
  await expectAccessible();
  server.use(http.put(`*${BATCH}`, () => HttpResponse.error()));
  await save();
  await screen.findByText(/did not respond, and it is not known/);
  await screen.findByText('2 values of 2 assets to save');
  const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
  await user.click(screen.getByRole('link', { name: /^Vitrine/ }));
  await waitFor(() => expect(confirm).toHaveBeenCalledOnce());
  await user.click(await button('Discard'));
  await screen.findByText('Nothing has been changed.');
  expect(cell(0, 0).textContent).toBe('1');
});

test('a table is saved as CSV, corrected, and read again; a wrong line is named', async () => {
  store('a', entry('mass', '=1+1'));
  store('b');
  const { user, cell } = await openTable(['a', 'b']);
  await user.click(await button('Save as CSV'));
  const text = (await saved.texts.at(-1)) ?? '';
  expect(text).toContain("library,a,a,'=1+1\r\n");
  const choose = (content: string) => {
    const input = document.querySelector<HTMLInputElement>('input[type=file]');
    return input && user.upload(input, new File([content], 'a.csv', { type: 'text/csv' }));
  };
  await choose(text.replace('library,b,b,', 'library,b,b'));
  await screen.findByText(/^The file was not read/);
  screen.getByText('Line 3');
  await expectAccessible();
  await choose(text.replace('library,b,b,', 'library,b,b,7'));
  await screen.findByText('1 value changed by the file');
  expect(screen.queryByText(/^The file was not read/)).toBeNull();
  expect(cell(1, 0).textContent).toBe('7');
  await user.click(await button('Add a key'));
  const suggestions = [{ kind: 'key', text: 'place of origin' }];
  respond('get', '/search/suggest', { suggestions });
  await user.type(screen.getByLabelText('Key'), 'place');
  await waitFor(() =>
    expect(document.querySelector('datalist')?.options[0]?.value).toBe('place of origin'),
  );
  await user.keyboard('{Enter}');
  await screen.findByLabelText('place of all assets');
});

test('without a selection, there is a way to the search', async () => {
  await openPage('/metadata');
  await screen.findByText(/^No assets are selected/);
});
