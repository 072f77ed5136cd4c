import { queryOptions } from '@tanstack/react-query';
import { compareNames } from '../texts/formats';
import { api, reply } from './client';
import { pagesOf } from './pages';

export const tagTypesQuery = queryOptions({
  queryKey: ['tags', 'types'],
  queryFn: async () => {
    const names: string[] = [];
    const read = (startingToken?: string) =>
      reply(api.GET('/tag-types', { params: { query: { scope: 'global', startingToken } } }));
    for await (const page of pagesOf(read))
      names.push(...page.Items.map(({ tagTypeName }) => tagTypeName));
    return names.sort(compareNames);
  },
});

/** Creates a tag, and its type before it if that is none of those that exist. */
export async function createTag(
  tagName: string,
  tagTypeName: string,
  types: readonly string[],
): Promise<void> {
  if (!types.includes(tagTypeName))
    await reply(api.POST('/tag-types', { body: { tagTypeName, description: tagTypeName } }));
  await reply(api.POST('/tags', { body: { tagName, description: tagName, tagTypeName } }));
}
