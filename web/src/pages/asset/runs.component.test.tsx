// The runs of workflows on an asset.
import { screen, waitFor, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { expect, test } from 'vitest';
import { button, dialog, expectAccessible, openPage } from '../../testing/page';
import { ASSET, respond, rightsTo, sent } from '../../testing/server';

const PAGE = '/databases/library/assets/x1?show=runs';
const LIST = `${ASSET}/workflows/executions`;

const run = (executionId: string, executionStatus: string, more = {}) => ({
  executionId,
  executionStatus,
  workflowId: `flow-${executionId}`,
  inputAssetFileKey: `x1/${executionId} <b>.stl`,
  createdAt: '2026-01-31T12:00:00Z',
  startedAt: '2026-01-31T12:00:00Z',
  stoppedAt: '',
  startedBy: 'ann',
  trigger: 'user',
  ...more,
});
const list = (...Items: object[]) => respond('get', LIST, { message: { Items } });

test('runs are listed with their states; one is stopped, and one is run again', async () => {
  const error = { code: 'Pipeline', message: '<i>No memory</i>' };
  const failed = run('b', 'FAILED', {
    error,
    trigger: 'upload',
    stoppedAt: '2026-01-31T12:01:00Z',
  });
  list(run('a', 'RUNNING'), failed);
  const user = await openPage(PAGE);
  await screen.findByText('flow-a');
  screen.getByText('a <b>.stl');
  screen.getByText(/^started by ann · .*2026/);
  screen.getByText(/^started by an upload · .*2026[^–]*–(?!.*2026)/);
  screen.getByText('<i>No memory</i>');
  await expectAccessible();
  expect(screen.queryByRole('button', { name: /^Run again: flow-a/ })).toBeNull();
  const refusal = { code: 'ExecutionActive', message: 'Another run is active' };
  respond('post', `${ASSET}/executions/b/rerun`, refusal, { status: 409, once: true });
  await user.click(await button(/^Run again: flow-b/));
  await screen.findByText('Another run is active.');
  let answer = () => {};
  const gate = new Promise<void>((resolve) => (answer = resolve));
  respond('get', LIST, async () => {
    await gate;
    return HttpResponse.json({ message: { Items: [run('a', 'ABORTED'), failed] } });
  });
  respond('delete', `${ASSET}/executions/a`, {});
  await user.dblClick(await button('Stop: flow-a, a <b>.stl'));
  await screen.findByText('The run is stopped.');
  await user.click(await button('Stop: flow-a, a <b>.stl'));
  answer();
  await screen.findByText('stopped');
  respond('post', `${ASSET}/executions/b/rerun`, { message: 'c' });
  respond('get', `${ASSET}/executions/c`, { message: run('c', 'RUNNING') });
  await user.click(await button(/^Run again: flow-b/));
  await screen.findByText('The run is started again.');
  // It follows the user to other pages.
  await screen.findByText('Running: 1');
  expect(sent.map(({ method, path }) => [method, path])).toEqual([
    ['POST', `${ASSET}/executions/b/rerun`],
    ['DELETE', `${ASSET}/executions/a`],
    ['POST', `${ASSET}/executions/b/rerun`],
  ]);
});

test('the details of a run name its steps, outputs and log', async () => {
  list(run('a', 'SUCCEEDED'));
  const step = { number: 1, pipelineId: 'convert', state: 'SUCCEEDED', startedAt: '2026-01-31' };
  respond('get', `${ASSET}/executions/a`, {
    message: {
      ...run('a', 'SUCCEEDED'),
      steps: [step, { number: 2, pipelineId: 'vitrine-inspect' }],
      outputs: {
        files: ['/out <b>.glb', 'x1/glb/parts/a.stl/v1.glb'],
        fileCount: 4,
        metadata: ['/'],
        metadataCount: 1,
        refused: [{ path: '/x', reason: 'It is too large' }],
        refusedCount: 1,
      },
      logLink: 'javascript:alert(1)',
    },
  });
  const user = await openPage(PAGE);
  await user.click(await button(/^Details/));
  const window = await dialog();
  await within(window).findByText('1. convert');
  within(window).getByText('2. Inspection');
  within(window).getByText('waiting');
  within(window).getByText('4 files');
  within(window).getByText('out <b>.glb', { exact: false });
  within(window).getByText('GLB of parts/a.stl');
  within(window).getByText('the whole asset');
  within(window).getByText('and 2 more');
  within(window).getByText('x: It is too large');
  expect(within(window).queryByRole('link')).toBeNull();
  await expectAccessible();
});

test('an asset without runs says so; who may not run workflows is offered no stop', async () => {
  list();
  await openPage(PAGE);
  await screen.findByText('No workflow has run on this asset yet.');
  document.body.replaceChildren();
  respond('post', '/auth/routes', rightsTo('/search', '/assets', '/upload'));
  list(run('a', 'RUNNING'));
  await openPage(PAGE);
  await button(/^Details/);
  await waitFor(() => expect(screen.queryByRole('button', { name: /^Stop/ })).toBeNull());
});
