// What runs for the user follows them from page to page.
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { activity, addRuns } from '../../api/activity';
import { pollJob } from '../../api/jobs';
import { button, expectAccessible, openPage } from '../../testing/page';
import { currentUpload } from '../upload/currentUpload';
import { ASSET, holdReply, PLACE, respond, sent } from '../../testing/server';

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

/** Computes no sums. */
class NoSums {
  onmessage: ((event: { data: object }) => void) | null = null;
  postMessage({ id }: { id: number }) {
    setTimeout(() => this.onmessage?.({ data: { id, sum: 'sum' } }));
  }
  terminate() {}
}

test('an upload goes on while its user is on other pages, and ends with the user', async () => {
  vi.stubGlobal('Worker', NoSums);
  const { held, release } = holdReply();
  respond('get', `${ASSET}/listFiles`, { items: [] });
  respond('post', '/uploads', async () => {
    await held;
    return Response.json({ code: 'InvalidInput', message: 'Refused <b>' }, { status: 400 });
  });
  const user = await openPage('/upload?database=library&asset=x1');
  await screen.findByText('Drop files or a folder here');
  const picker = document.querySelector('input[type=file]');
  if (picker) fireEvent.change(picker, { target: { files: [new File(['x'], 'a.txt')] } });
  await screen.findByText('1 is new.');
  await user.click(await button('Upload 1 file'));
  await button('Pause');
  expect(panel()).toBeNull();
  await user.click(screen.getByRole('link', { name: /^Vitrine/ }));
  await waitFor(() => expect(panel()).not.toBeNull());
  await expectAccessible();
  const closing = new Event('beforeunload', { cancelable: true });
  dispatchEvent(closing);
  expect(closing.defaultPrevented).toBe(true);
  release();
  await screen.findByText('1 file could not be uploaded.');
  await user.click(screen.getByRole('link', { name: 'Show' }));
  await screen.findByText(/Refused <b>/);
  expect(panel()).toBeNull();
  await user.click(screen.getByRole('link', { name: /^Vitrine/ }));
  await waitFor(() => expect(panel()).not.toBeNull());
  await openPage('/');
  await waitFor(() => expect(currentUpload.current()).toBeNull());
});
