// The dialog of a folder that is moved.
import { screen, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, dialog, openPage } from '../../testing/page';
import { ASSET, fileAt, respond, sent } from '../../testing/server';

test('a folder is moved by a job; what it does not move is named, and it is stopped', async () => {
  const job = { jobId: 'moveFolder.test', itemsDone: 1, itemsTotal: 3, state: 'running' };
  const problems = ['/papers/b.txt: The target exists <b>already</b>'];
  const stopped = { ...job, state: 'cancelled', problems };
  let current: object = { ...job, problems: [] };
  respond('post', `${ASSET}/moveFolder`, { jobId: job.jobId });
  respond('get', `/jobs/${job.jobId}`, () => HttpResponse.json(current as typeof stopped));
  respond('post', `/jobs/${job.jobId}/cancel`, () => HttpResponse.json((current = stopped)));
  const items = [fileAt('/a.txt'), fileAt('/papers/b.txt'), fileAt('/c', { isArchived: true })];
  respond('get', `${ASSET}/listFiles`, { items });
  const user = await openPage('/databases/library/assets/x1');
  await user.click(await screen.findByLabelText('Change papers'));
  await user.click(await button('Rename'));
  const form = await dialog();
  await within(form).findByText('It has 2 files, and 1 archived file.');
  await user.clear(within(form).getByLabelText('Folder name'));
  await user.type(within(form).getByLabelText('Folder name'), 'pieces{Enter}');
  await within(form).findByText('Moved 1 of 3 files…');
  within(form).getByText(/^This takes longer/);
  await user.click(await button('Stop', form));
  await within(form).findByText('1 file was moved, and 2 are still in the folder:', undefined, {
    timeout: 3_000,
  });
  within(form).getByText('/papers/b.txt: The target exists <b>already</b>.');
  current = { ...job, state: 'done', itemsDone: 3, problems: [] };
  await user.click(await button('Rename', form));
  await screen.findByText('The folder papers is renamed.');
  const body = { sourcePath: '/papers/', destinationPath: '/pieces/' };
  expect(sent.map((request) => request.body)).toEqual([body, null, body]);
});
