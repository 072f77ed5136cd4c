import { afterEach, expect, test, vi } from 'vitest';
import { ApiError } from '../../api/errors';

const stored = { tags: ['old'], revision: 1 };
let others: string[] = [];
const PUT = vi.fn();
vi.mock('../../api/client', () => ({
  api: {
    GET: () =>
      Promise.resolve({
        data: { tags: [...stored.tags] },
        headers: new Headers({ etag: `"${stored.revision}"` }),
      }),
    PUT: (...options: unknown[]) => PUT(...options) as unknown,
  },
  replyWithHeaders: (value: unknown) => value,
}));
vi.mock('../../api/writes', () => ({ recordWrite: () => undefined }));
const { addTag } = await import('./tagging');

interface Put {
  params: { header: Record<string, string> };
  body: { tags: string[] };
}

/** A server where others write a tag before each of the first writes. */
function server(): void {
  PUT.mockImplementation((_: string, { params, body }: Put) => {
    const other = others.shift();
    if (other) {
      stored.tags.push(other);
      stored.revision += 1;
    }
    if (params.header['If-Match'] !== `"${stored.revision}"`) {
      return Promise.reject(new ApiError(412, 'PreconditionFailed', 'The asset has changed'));
    }
    stored.tags = body.tags;
    stored.revision += 1;
    return Promise.resolve({ data: {}, headers: new Headers() });
  });
}

afterEach(() => {
  stored.tags = ['old'];
  vi.clearAllMocks();
});

test('of two people who add tags at the same time, neither loses one', async () => {
  server();
  others = ['theirs', 'theirs too'];
  await addTag({ databaseId: 'd', assetId: 'a' }, 'mine');
  expect(stored.tags).toEqual(['old', 'theirs', 'theirs too', 'mine']);
});

test('a conflict that does not end, and any other refusal, is reported', async () => {
  server();
  others = Array.from({ length: 20 }, (_, at) => `tag ${at}`);
  await expect(addTag({ databaseId: 'd', assetId: 'a' }, 'mine')).rejects.toThrow('has changed');
  expect(PUT).toHaveBeenCalledTimes(5);
  PUT.mockReset().mockRejectedValue(new ApiError(403, 'Forbidden', 'You may not'));
  await expect(addTag({ databaseId: 'd', assetId: 'a' }, 'mine')).rejects.toThrow('You may not');
  expect(PUT).toHaveBeenCalledTimes(1);
});
