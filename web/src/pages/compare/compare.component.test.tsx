// Two models side by side: where the page leads from, and what its address says.
import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { PLACE } from '../../testing/server';
import { expectAccessible, openPage } from '../../testing/page';
import { decodeCompared, encodeCompared } from './comparedFile';

test.each([
  { ...PLACE, path: '/a: b/ü.glb' },
  { ...PLACE, path: '/a.glb', earlier: { versionId: 'x.1', assetVersionId: '3' } },
  { ...PLACE, path: '/a.glb', earlier: { versionId: 'x.1', assetVersionId: undefined } },
])('a file is the same after its way through an address: %j', (file) => {
  expect(decodeCompared(encodeCompared(file))).toEqual(file);
});

test('both files are named, with their versions and links', async () => {
  const [newest, old] = [{}, { earlier: { versionId: 'x.1', assetVersionId: '3' } }].map(
    (version) => encodeURIComponent(encodeCompared({ ...PLACE, path: '/a.glb', ...version })),
  );
  await openPage(`/compare?left=${old}&right=${newest}`);
  const [left, right] = await screen.findAllByRole('region', { name: /: a\.glb$/ });
  await within(left as HTMLElement).findByText(/in version 3/);
  await within(right as HTMLElement).findByText(/the newest content/);
  const links = screen.getAllByRole('link').map((link) => link.getAttribute('href'));
  expect(links).toContain('/ui/databases/library/assets/x1?file=%2Fa.glb&version=%223%22');
  screen.getByText(/in the places that the file gives them/);
  await expectAccessible();
});

test.each(['', '?left=a&right=b', '?left=a%3Ab%3A%3A%3A%2Fc.glb'])(
  'an address that names no two files says so: %s',
  async (search) => {
    await openPage(`/compare${search}`);
    await screen.findByRole('alert');
  },
);
