// The hits of a search as a list, and as a command.
import { screen, within } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { hit, hits, respond, searches } from '../../testing/server';

test('hits are saved as CSV, and searched for by a command', async () => {
  let saved: Blob | undefined;
  vi.stubGlobal(
    'URL',
    Object.assign(URL, {
      createObjectURL: (blob: Blob) => {
        saved = blob;
        return 'blob:x';
      },
    }),
  );
  const user = await openPage('/?q=lamp');
  const source = {
    str_databaseid: 'library',
    str_assetid: 'x1',
    str_assetname: '=lamp',
    list_tags: ['a', 'b'],
  };
  await user.click(await button('Export'));
  await user.click(await button('Copy as command', await dialog()));
  expect(await navigator.clipboard.readText()).toBe('vitrine search --fold lamp');
  await expectAccessible();
  respond(
    'post',
    '/search',
    { message: 'Try later', code: 'Busy', requestId: 'r-1' },
    {
      status: 500,
      once: true,
    },
  );
  await user.click(await button('Save as CSV'));
  await within(await dialog()).findByText(/Try later.*r-1/);
  respond('post', '/search', hits(hit('gear'), hit('x1', { _source: source })));
  await user.click(await button('Save as CSV'));
  await screen.findByText('2 assets saved');
  const lines = ((await saved?.text()) ?? '').split('\r\n');
  expect(lines[1]).toBe('library,gear,,,,,,http://vitrine.test/ui/databases/library/assets/gear');
  expect(lines[2]).toMatch(/^library,'=lamp,,,,a b,,/);
  expect(searches.at(-1)?.body).toMatchObject({
    size: 100,
    from: 0,
    previews: false,
    query: 'lamp',
  });
});
