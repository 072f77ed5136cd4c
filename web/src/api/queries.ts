import { QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import { api, reply } from './client';
import { isTransient } from './errors';
import { pagesOf } from './pages';
import { compareNames } from '../texts/formats';

const MINUTE = 60_000;

/** The cache of replies: the only place that keeps what the server returned. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: MINUTE,
      refetchOnWindowFocus: false,
      // Without a connection a request fails, and the page says so; by default it would only wait.
      networkMode: 'always',
      // What failed meanwhile is requested again once there is one.
      refetchOnReconnect: true,
      retry: (failures, error) => failures < 2 && isTransient(error),
    },
  },
});

export const configQuery = queryOptions({
  queryKey: ['configuration'],
  queryFn: async () => {
    const config = await reply(api.GET('/api/amplify-config'));
    const { pageIssuer, pageClientId } = config;
    // Users of the user pool sign in to a deployed page by a client of its own.
    return pageIssuer && pageClientId
      ? { ...config, externalOAuthIdpURL: pageIssuer, externalOAuthIdpClientId: pageClientId }
      : config;
  },
  staleTime: Infinity,
});

/** Those of the web application, by whose rights the page offers its acts. */
const PAGES = [
  '/search',
  '/assets',
  '/databases',
  '/upload',
  '/workflows',
  '/auth/userroles',
  '/auth/tags',
];
/** The name of the signed-in user, and the pages that a role of theirs shows. */
export const currentUserQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async () => {
    const routes = PAGES.map((page) => ({ method: 'GET' as const, route__path: page }));
    const allowed = await reply(api.POST('/auth/routes', { body: { routes } }));
    return {
      name: allowed.email,
      pages: new Set(allowed.allowedRoutes.map((route) => route.route__path)),
    };
  },
  staleTime: 5 * MINUTE,
});

/** Whether the user may change assets; undefined until it is known. */
export const useMayWrite = (): boolean | undefined =>
  useQuery(currentUserQuery).data?.pages.has('/upload');

/** Whether the user may give roles to people. */
export const useMayGive = (): boolean =>
  useQuery(currentUserQuery).data?.pages.has('/auth/userroles') ?? false;

/** What a user may do with selected assets. */
export interface Permissions {
  download: boolean;
  change: boolean;
  run: boolean;
}

export function usePermissions(): Permissions {
  const pages = useQuery(currentUserQuery).data?.pages;
  const change = pages?.has('/upload') ?? false;
  return {
    download: pages?.has('/assets') ?? false,
    change,
    run: change && (pages?.has('/workflows') ?? false),
  };
}

/** The tags that assets of each of these databases may have. */
export const tagsQuery = (databases: string[]) =>
  queryOptions({
    queryKey: ['tags'],
    queryFn: async () => {
      const items = [];
      const read = (startingToken?: string) =>
        reply(api.GET('/tags', { params: { query: { startingToken } } }));
      for await (const page of pagesOf(read)) items.push(...page.Items);
      return items;
    },
    select: (tags) => {
      const usable = tags.filter(
        (tag) => tag.databaseId === 'GLOBAL' || databases.every((id) => id === tag.databaseId),
      );
      return [...new Set(usable.map((tag) => tag.tagName))].sort(compareNames);
    },
  });

export const databasesQuery = queryOptions({
  queryKey: ['databases'],
  queryFn: async () => {
    const items = [];
    const read = (startingToken?: string) =>
      reply(api.GET('/database', { params: { query: { startingToken } } }));
    for await (const page of pagesOf(read)) items.push(...page.Items);
    return items;
  },
});
