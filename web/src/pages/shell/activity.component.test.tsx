// What runs for the user follows them from page to page.
import { screen, waitFor } from '@testing-library/react';
import { expect, test } from 'vitest';
import { activity, addRuns } from '../../api/activity';
import { pollJob } from '../../api/jobs';
import { button, expectAccessible, openPage } from '../../testing/page';
import { ASSET, PLACE, respond, sent } from '../../testing/server';

const panel = () => document.querySelector('.activity');

test('a job that takes longer is shown on each page but that of jobs, and is stopped', async () => {
  const job = (state: string) =>
    respond('get', '/jobs/j1', {
      jobId: 'j1',
      kind: 'moveFolder',
      state,
      itemsDone: 1,
      itemsTotal: 3,
      problems: [],
      cancellable: true,
      createdAt: '2026-01-31T12:00:00Z',
      ...PLACE,
    });
  job('running');
  respond('get', '/jobs', { items: [] });
  const user = await openPage('/');
  const ended = pollJob('j1', { wait: () => new Promise((next) => setTimeout(next, 20)) });
  await screen.findByText('1 of 3');
  await expectAccessible();
  const link = screen.getByRole('link', { name: 'Open the asset' });
  expect(link.getAttribute('href')).toContain('/ui/databases/library/assets/x1');
  await user.click(screen.getByRole('link', { name: 'Jobs' }));
  await screen.findByText('You have started no jobs yet.');
  expect(panel()).toBeNull();
  await user.click(screen.getByRole('link', { name: /^Vitrine/ }));
  respond('post', '/jobs/j1/cancel', () => {
    job('cancelled');
    return Response.json({});
  });
  await user.click(await button(/^Stop: Move a folder/));
  expect((await ended).state).toBe('cancelled');
  await waitFor(() => expect(panel()).toBeNull());
  expect(sent.map(({ path }) => path)).toEqual(['/jobs/j1/cancel']);
});

test('runs are shown until they succeed, or their failure is hidden; never to another user', async () => {
  const run = (executionId: string, executionStatus: string, more = {}) =>
    respond('get', `${ASSET}/executions/${executionId}`, {
      message: { executionId, executionStatus, workflowId: `flow <b>${executionId}`, ...more },
    });
  run('a', 'FAILED', { error: { code: 'Pipeline', message: '<i>No memory</i>' } });
  run('b', 'SUCCEEDED');
  run('c', 'RUNNING');
  const user = await openPage('/');
  addRuns(['a', 'b', 'c', 'd', 'e', 'f'].map((executionId) => ({ place: PLACE, executionId })));
  await screen.findByText('<i>No memory</i>');
  await screen.findByText('flow <b>b: succeeded');
  await expectAccessible();
  await user.click(await button('Hide flow <b>a'));
  await waitFor(() => expect(screen.queryByText('<i>No memory</i>')).toBeNull());
  respond('delete', `${ASSET}/executions/c`, () => {
    run('c', 'ABORTED');
    return Response.json({});
  });
  await user.click(await button('Stop: flow <b>c'));
  await button('Hide flow <b>c');
  await openPage('/');
  await waitFor(() => expect(activity.current().runs).toEqual([]));
});
