import { afterEach, expect, test, vi } from 'vitest';
import { api } from './client';
import { NetworkError } from './errors';
import { waitForWrite, waitForJob } from './jobs';
import { recordWrite } from './writes';

vi.mock('./writes', () => ({ recordWrite: vi.fn() }));

const wait = () => Promise.resolve();
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.mocked(recordWrite).mockClear();
});

/** Each reply is a job's state, the status of a refusal, or the error of the request. */
function replies(...states: (string | number | Error)[]) {
  return vi.spyOn(api, 'GET').mockImplementation((() => {
    const next = states.length > 1 ? states.shift() : states[0];
    if (next instanceof Error) return Promise.reject(next);
    if (typeof next === 'number') {
      const error = { code: 'Refused', message: 'Job j1 does not exist' };
      return Promise.resolve({ error, response: new Response(null, { status: next }) });
    }
    const data = { state: next, problems: next === 'done' ? [] : ['first', 'The disk is full'] };
    return Promise.resolve({ data, response: new Response() });
  }) as never);
}

test('a job is requested until it has ended, also after lost replies', async () => {
  const request = replies('queued', 429, new NetworkError(), 'running', 'done');
  await waitForJob('j1', { wait });
  expect(request).toHaveBeenCalledTimes(5);
});

test('a job that failed or was cancelled throws its last reason', async () => {
  for (const state of ['failed', 'cancelled']) {
    replies('running', state);
    await expect(waitForJob('j1', { wait })).rejects.toThrow('The disk is full');
  }
});

test('without replies for long, the outcome is reported as unknown', async () => {
  replies(new NetworkError());
  await expect(waitForJob('j1', { wait })).rejects.toThrow(
    'it is not known whether the change was made',
  );
});

test('a refusal ends the waiting', async () => {
  const request = replies(404);
  await expect(waitForJob('j1', { wait })).rejects.toThrow('does not exist');
  expect(request).toHaveBeenCalledTimes(1);
});

test('searches wait for what a job has changed, also where it failed', async () => {
  for (const end of ['done', 'failed']) {
    vi.useFakeTimers();
    replies('running', end);
    const headers = new Headers();
    const done = waitForWrite(headers, 'j1').catch(() => 'failed');
    await vi.advanceTimersByTimeAsync(500);
    expect(recordWrite).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await done).toBe(end === 'done' ? undefined : 'failed');
    expect(recordWrite).toHaveBeenCalledExactlyOnceWith(headers);
    vi.mocked(recordWrite).mockClear();
  }
});

test('a write without a job is complete at once', async () => {
  const request = replies('done');
  await waitForWrite(new Headers(), undefined);
  expect(request).not.toHaveBeenCalled();
  expect(recordWrite).toHaveBeenCalledOnce();
});
