// The page of searches: conditions, ranges and filters, and its message in each state.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test, vi } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { hit, hits, respond, rightsTo, searches } from '../../testing/server';

const link = (name: string) => screen.findByRole('link', { name });
const query = (state: object) =>
  `/?${new URLSearchParams(Object.entries(state).map(([key, value]) => [key, JSON.stringify(value)])).toString()}`;

const NARROW = Object.assign(new EventTarget(), { matches: false }) as MediaQueryList;
const narrowWindow = () => vi.spyOn(window, 'matchMedia').mockReturnValue(NARROW);

/** Waits for the form of conditions, fills in its fields, and adds the condition. */
async function addCondition(fields: Record<string, string>) {
  const user = await openPage('/');
  await screen.findByLabelText('Fact or metadata');
  for (const [label, value] of Object.entries(fields)) {
    const field = screen.getByLabelText(label);
    if (field instanceof HTMLSelectElement) await user.selectOptions(field, value);
    else await user.type(field, value);
  }
  await user.click(await button('Add condition'));
  return user;
}

test.each([
  [
    { 'Fact or metadata': 'Triangles', Condition: 'at least', Value: '1000' },
    'Triangles at least 1000',
    { key: 'fact_triangles', op: 'gte', value: '1000' },
  ],
  [
    { Key: 'fact_format', Value: 'LAZ' },
    'Format is LAZ',
    { key: 'fact_format', op: 'eq', value: 'LAZ' },
  ],
  [
    { 'Fact or metadata': 'Watertight', Value: 'yes' },
    'Watertight is yes',
    { key: 'fact_watertight', op: 'eq', value: 'true' },
  ],
  [{ Key: 'material', Condition: 'exists' }, 'material exists', { key: 'material', op: 'exists' }],
])('%o is added as “%s”', async (fields, name, filter) => {
  await addCondition(fields);
  await button(`Remove filter: ${name}`);
  await waitFor(() => {
    const [sentFilter] = (searches.at(-1)?.body as { metadataFilters: object[] }).metadataFilters;
    expect(JSON.stringify(sentFilter)).toContain(filter.key);
  });
});

test.each([
  [{}, 'Key', 'Key is required.'],
  [{ Key: 'material' }, 'Value', 'Value is required.'],
  [
    { 'Fact or metadata': 'Triangles', Condition: 'at least', Value: 'many' },
    'Value',
    /condition on “Triangles” must be a number/,
  ],
  [{ Key: 'fact_colour', Value: 'x' }, 'Key', /^There is no fact “fact_colour”/],
])('%o is refused at the field %s', async (fields, label, words) => {
  await addCondition(fields);
  const message = await screen.findByText(words);
  const field = screen.getByLabelText(label);
  expect(field.ariaInvalid).toBe('true');
  expect(field.getAttribute('aria-describedby')).toBe(message.id);
  expect(document.activeElement).toBe(field);
  expect(screen.queryByRole('group', { name: 'Chosen filters' })).toBeNull();
});

test('a link with a condition that cannot be is refused in a sentence, without another try', async () => {
  const user = await openPage(query({ meta: [{ key: 'fact_points', op: 'gte', value: 'many' }] }));
  const alert = await screen.findByText(/condition on “Points” must be a number/);
  expect(within(alert.parentElement ?? alert).queryByRole('button')).toBeNull();
  await user.click(await button('Remove filter: Points at least many'));
  await link('lamp');
});

test('chosen filters are named above the results, and removed there', async () => {
  const user = await openPage(
    query({
      facets: { str_fileext: ['.glb'], fact_watertight: [true] },
      triangles: [10, null],
      date: [null, '2100-01-31'],
      meta: [{ key: 'mass_kg', op: 'gte', value: '0' }],
    }),
  );
  const filters = await screen.findByRole('group', { name: 'Chosen filters' });
  const names = () => [...filters.querySelectorAll('.chip')].map((chip) => chip.textContent);
  expect(names()).toEqual([
    'File type: .glb ×',
    'Watertight: yes ×',
    'Triangles: at least 10 ×',
    'Last changed: up to Jan 31, 2100 ×',
    'mass_kg at least 0 ×',
  ]);
  await user.click(await button('Remove filter: Watertight: yes'));
  await waitFor(() => expect(names()).toHaveLength(4));
  await user.click(await button('Clear all filters'));
  await waitFor(() => expect(filters.isConnected).toBe(false));
  expect(location.search).toBe('');
});

test('a range whose first value is greater is refused beside it', async () => {
  const user = await openPage('/');
  const range = await screen.findByRole('group', { name: 'Triangles' });
  await user.type(within(range).getByLabelText('Triangles: From'), '9000');
  await user.type(within(range).getByLabelText('Triangles: To'), '10');
  await user.click(await button('Apply: Triangles'));
  within(range).getByText('The first value is greater than the second.');
  await expectAccessible();
  expect(location.search).not.toContain('triangles');
  await user.type(within(range).getByLabelText('Triangles: To'), '000');
  await user.click(await button('Apply: Triangles'));
  await waitFor(() => expect(location.search).toContain('triangles'));
  expect(within(range).queryByText(/^The first value is greater/)).toBeNull();
});

test('in a narrow window a range keeps the focus, and the button of the results moves it there', async () => {
  const media = narrowWindow();
  const user = await openPage('/');
  await user.click(await screen.findByText('Filters'));
  const to = await screen.findByLabelText('Triangles: To');
  await user.type(to, '10{Enter}');
  await screen.findByText('Filters (1)');
  expect(document.activeElement).toBe(to);
  await user.click(await button('Show 2 assets'));
  expect(document.activeElement?.id).toBe('content');
  expect(document.querySelector('details.aside')?.hasAttribute('open')).toBe(false);
  media.mockRestore();
});

test('words that are typed are one step back, and signs alone ask for no suggestions', async () => {
  let suggestions = 0;
  respond('get', '/search/suggest', () => {
    suggestions += 1;
    return HttpResponse.json({ suggestions: [{ kind: 'name', text: '<b>gear</b>' }] });
  });
  const user = await openPage(query({ triangles: [3000, null] }));
  await link('lamp');
  const box = screen.getByRole('combobox', { name: 'Search assets and files' });
  await user.type(box, '*((😀');
  await waitFor(() => expect(location.search).toContain('q='));
  expect(suggestions).toBe(0);
  await user.clear(box);
  await user.type(box, 'gea');
  await screen.findByRole('option', { name: /<b>gear<\/b>/ });
  await waitFor(() => expect(location.search).toContain('q=gea'));
  history.back();
  await waitFor(() => expect(location.search).not.toContain('q='));
  expect(location.search).toContain('triangles');
});

test('each reason why there is no picture is said in words', async () => {
  const reasons = {
    inspecting: 'Being inspected',
    refused: 'Could not be read',
    notDistributable: 'Download not allowed',
    quarantined: 'In quarantine',
    notPermitted: 'Not permitted',
    archived: 'Archived',
    none: 'No picture',
  };
  const items = Object.keys(reasons).map((reason) =>
    hit(reason, { previewMissing: { reason, message: `<b>${reason}</b>` } }),
  );
  respond('post', '/search', hits(...items));
  await openPage('/');
  for (const words of Object.values(reasons)) await screen.findAllByText(words);
});

test('a card shows the kind of its file, its size, the number of files and tags, as a row does', async () => {
  const _source = {
    str_fileext: '.glb',
    num_filesize: 1_500,
    str_key: 'lamp/lamp.glb',
    str_previewfilekey: 'lamp/lamp.png',
  };
  const lamp = hit('lamp', {
    fileCount: 3,
    files: [{ _source, previewMissing: { reason: 'none', message: '' } }],
  });
  const list_tags = ['oak', 'elm', '<b>new</b>'];
  respond('post', '/search', hits({ ...lamp, _source: { ...lamp._source, list_tags } }));
  const user = await openPage('/');
  await screen.findByText('glb · 1.5 kB · 3 files');
  screen.getByText('library');
  expect(screen.getByTitle('oak, elm, <b>new</b>').textContent).toBe('oakelm+1');
  await user.click(await button('List'));
  await waitFor(() =>
    expect(screen.getByTitle('oak, elm, <b>new</b>').textContent).toBe('oakelm+1'),
  );
});

test.each([
  [['photogrammetry of a city', 'x'], 'photogrammetry of a city+1'],
  [['approved', 'needs-review'], 'approved+1'],
  [['a', 'b', 'c', 'd'], 'abc+1'],
])('of the tags %j as many are shown as there is room for', async (list_tags, shown) => {
  const lamp = hit('lamp');
  respond('post', '/search', hits({ ...lamp, _source: { ...lamp._source, list_tags } }));
  await openPage('/');
  expect((await screen.findByTitle(list_tags.join(', '))).textContent).toBe(shown);
});

test.each([
  ['/?q=x', 'Nothing matches this search.', 'Show all assets'],
  ['/', 'There are no assets yet.', 'Upload'],
])('%s without hits: “%s” leads to %s', async (path, words, target) => {
  respond('post', '/search', hits());
  await openPage(path);
  await screen.findByText(words);
  expect(screen.getAllByRole('link', { name: target }).length).toBeGreaterThan(0);
});

test('who may not search sees that there are no assets for them', async () => {
  respond('post', '/search', { code: 'PermissionDenied', message: 'x' }, { status: 403 });
  respond('post', '/auth/routes', rightsTo());
  await openPage('/?q=x');
  await screen.findByText('There are no assets that you may see.');
});

test('a busy server is asked again after a while, and a broken one is named in a sentence', async () => {
  const busy = { status: 429, headers: { 'Retry-After': '1' }, once: true };
  respond('post', '/search', { message: 'Too many requests' }, busy);
  const user = await openPage('/');
  await link('lamp');
  respond('post', '/search', { message: 'Internal Server Error' }, { status: 500 });
  await user.type(screen.getByRole('combobox', { name: /^Search/ }), 'anything');
  await screen.findByText(/^The server failed \(status 500\)/);
  respond('post', '/search', hits(hit('again')));
  await user.click(await button('Try again'));
  await link('again');
});

test('a lost connection is named, nothing typed is lost, and the search goes on after it', async () => {
  const user = await openPage('/');
  await link('lamp');
  respond('post', '/search', () => HttpResponse.error());
  window.dispatchEvent(new Event('offline'));
  const box = screen.getByRole('combobox', { name: /^Search/ });
  await user.type(box, 'lighthouse');
  await screen.findByText(/^The server did not respond/, {}, { timeout: 20_000 });
  expect(box).toHaveProperty('value', 'lighthouse');
  respond('post', '/search', hits(hit('lighthouse')));
  window.dispatchEvent(new Event('online'));
  await link('lighthouse');
});

test('without words the newest assets come first; with words, those that match best', async () => {
  const user = await openPage('/');
  await link('lamp');
  const sorts = () =>
    screen
      .getAllByRole('option', { name: /first|match|Name|^Database/ })
      .map((option) => option.textContent);
  const lastSort = () => (searches.at(-1)?.body as { sort: object[] }).sort;
  expect(sorts()).toEqual(['Newest first', 'Oldest first', 'Name', 'Name, from Z', 'Database']);
  expect(lastSort()).toEqual([{ field: 'date_lastmodified', order: 'desc', type: 'date' }]);
  await user.type(screen.getByRole('combobox', { name: /^Search/ }), 'lamp');
  await waitFor(() => expect(lastSort()).toEqual([]));
  expect(sorts()[0]).toBe('Best match');
});

test('an unavailable server is named once, and a page that does not exist has a heading', async () => {
  respond('post', '/auth/routes', { message: 'x' }, { status: 503 });
  respond('post', '/search', { message: 'x' }, { status: 503 });
  await openPage('/');
  await screen.findByText(/^It is not known what you may do/);
  await waitFor(() => expect(document.querySelector('.notice.bad')).not.toBeNull(), {
    timeout: 20_000,
  });
  expect(screen.getAllByText(/status 503/)).toHaveLength(1);
  document.body.replaceChildren();
  respond('post', '/auth/routes', rightsTo('/search'));
  await openPage('/nowhere');
  await screen.findByRole('heading', { level: 1, name: 'There is no page at this address.' });
});

test('rights that are not known are named and requested again', async () => {
  respond('post', '/auth/routes', { message: 'x' }, { status: 500 });
  const user = await openPage('/');
  await screen.findByText(/^It is not known what you may do/);
  respond('post', '/auth/routes', rightsTo('/search', '/upload'));
  await user.click(await button('Try again'));
  await waitFor(() => expect(screen.queryByText(/^It is not known what/)).toBeNull());
});

test('the latest change is said to be missing while the index does not hold it', async () => {
  sessionStorage.clear();
  let replies = 0;
  respond('post', '/search', () =>
    HttpResponse.json(hits(hit('lamp')), { status: replies++ ? 200 : 202 }),
  );
  await openPage('/');
  await screen.findByText('Your latest change is not among these results yet.');
  await waitFor(() => expect(screen.queryByText(/^Your latest change/)).toBeNull());
});
