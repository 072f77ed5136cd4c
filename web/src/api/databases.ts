import { api, reply } from './client';
import { pagesOf } from './pages';
import { queryOptions } from '@tanstack/react-query';

export interface NewDatabase {
  name: string;
  description: string;
  /** Where its files are stored; '' for the first bucket of assets. */
  bucketId: string;
}

/** The buckets that a database may store its files in. */
export const bucketsQuery = queryOptions({
  queryKey: ['buckets'],
  queryFn: async () => {
    const buckets = [];
    const read = (startingToken?: string) =>
      reply(api.GET('/buckets', { params: { query: { startingToken } } }));
    for await (const page of pagesOf(read)) buckets.push(...page.Items);
    return buckets;
  },
});

/** Creates a database, and returns its id, which is its name. */
export async function createDatabase({
  name,
  description,
  bucketId,
}: NewDatabase): Promise<string> {
  const first = async () => (await reply(api.GET('/buckets', {}))).Items[0]?.bucketId ?? '';
  await reply(
    api.POST('/database', {
      body: {
        databaseId: name,
        description: description.trim(),
        defaultBucketId: bucketId || (await first()),
      },
    }),
  );
  return name;
}
