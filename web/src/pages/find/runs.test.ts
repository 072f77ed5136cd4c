import { expect, test, vi } from 'vitest';
import { NetworkError } from '../../api/errors';
import { selectionTexts } from '../../texts/selection';
import type { Target, Workflow } from './selectedFiles';

const POST = vi.fn<() => Promise<unknown>>();
vi.mock('../../api/client', () => ({
  api: { POST: () => POST() },
  reply: async (sent: Promise<{ data: unknown }>) => (await sent).data,
}));
const { startRuns } = await import('./runs');

const workflow: Workflow = {
  workflowId: 'w',
  databaseId: 'GLOBAL',
  description: '',
  extensions: [],
};
const target = (id: string): Target => ({
  card: { id, databaseId: 'd', assetId: id, name: id },
  path: '/a.txt',
  size: 1,
});

test('runs whose reply was lost may have been started', async () => {
  POST.mockResolvedValueOnce({ data: { refused: [] } });
  POST.mockRejectedValueOnce(new NetworkError(true));
  const result = await startRuns(workflow, [target('one'), target('two')], () => undefined);
  expect(result.started.map(({ card }) => card.id)).toEqual(['one']);
  expect(result.unclear).toBe(true);
  expect(selectionTexts.notStarted(1, result.unclear)).toMatch(/^It is not known whether 1 run /);
  POST.mockResolvedValueOnce({ data: { refused: [{ fileKey: '/a.txt', message: 'no' }] } });
  const refused = await startRuns(workflow, [target('one')], () => undefined);
  expect([refused.failed.length, refused.unclear]).toEqual([1, false]);
});
