// The jobs of the user: their progress, what went wrong, and stopping them.
import { screen, waitFor } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, expectAccessible, openPage } from '../../testing/page';
import { holdReply, respond, sent } from '../../testing/server';

const job = (jobId: string, state: string, more = {}) => ({
  jobId,
  state,
  kind: 'moveFolder',
  itemsDone: 1,
  itemsTotal: 3,
  problems: [],
  cancellable: true,
  resumable: state === 'failed' || state === 'cancelled',
  createdAt: '2026-01-31T12:00:00Z',
  ...more,
});
const list = (...items: object[]) => respond('get', '/jobs', { items });

test('jobs are found in the menu, and show their progress; one is stopped, and goes on', async () => {
  const place = { databaseId: 'library', assetId: 'x1' };
  list(
    job('a', 'running', place),
    job('b', 'failed', { kind: 'odd', itemsTotal: null, problems: ['/b: <b>gone</b>'] }),
    job('c', 'queued', { cancellable: false }),
    job('d', 'cancelled', { resumable: false }), // its kind undoes its changes
  );
  const user = await openPage('/');
  await user.click(await screen.findByRole('link', { name: 'Jobs' }));
  await screen.findByRole('heading', { name: 'Jobs' });
  await screen.findByText('odd');
  expect(screen.getAllByText(/^1 of 3 · .*2026/)).toHaveLength(3);
  screen.getByText(/^1 done · /);
  screen.getByText('/b: <b>gone</b>');
  expect(screen.getAllByRole('progressbar')).toHaveLength(2);
  await expectAccessible();
  const link = screen.getByRole('link', { name: 'Open the asset' });
  expect(link.getAttribute('href')).toBe('/ui/databases/library/assets/x1');
  expect(screen.getAllByRole('button', { name: /^Stop/ })).toHaveLength(1);
  expect(screen.getAllByRole('button', { name: /^Go on/ })).toHaveLength(1);
  respond(
    'post',
    '/jobs/a/cancel',
    { code: 'JobNotCancellable', message: 'It is done' },
    {
      status: 409,
      once: true,
    },
  );
  await user.click(await button(/^Stop/));
  await screen.findByText('It is done.');
  respond('post', '/jobs/a/cancel', job('a', 'cancelled'));
  list(job('a', 'cancelled'));
  await user.click(await button(/^Stop/));
  await screen.findByText('stopped');
  respond('post', '/jobs/a/resume', job('a', 'running'));
  list(job('a', 'done'));
  await user.click(await button(/^Go on/));
  await screen.findByText('done');
  expect(sent.map(({ path }) => path)).toEqual([
    '/jobs/a/cancel',
    '/jobs/a/cancel',
    '/jobs/a/resume',
  ]);
});

test('a user without jobs sees a sentence', async () => {
  const { held, release } = holdReply();
  respond('get', '/jobs', async () => {
    await held;
    return HttpResponse.json({ items: [] });
  });
  await openPage('/jobs');
  await waitFor(() => expect(document.querySelectorAll('.jobs li:empty')).toHaveLength(3));
  await expectAccessible();
  release();
  await screen.findByText('You have started no jobs yet.');
  expect(document.querySelector('.jobs li')).toBeNull();
});
