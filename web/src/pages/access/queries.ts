import { queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import { ApiError } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import type { components } from '../../api/schema';
import { compareNames } from '../../texts/formats';
import type { Constraint } from './ruleWords';

export type Role = components['schemas']['RoleReply'];
export type Explanation = components['schemas']['ExplainReply'];

export const ADMINISTRATOR = 'admin';

export const rolesQuery = queryOptions({
  queryKey: ['access', 'roles'],
  queryFn: async () => {
    const roles: Role[] = [];
    const read = (startingToken?: string) =>
      reply(api.GET('/roles', { params: { query: { startingToken } } }));
    for await (const page of pagesOf(read)) roles.push(...page.Items);
    return roles.sort((a, b) => compareNames(a.roleName, b.roleName));
  },
});

/** The roles of each person who has one. */
export const userRolesQuery = queryOptions({
  queryKey: ['access', 'users'],
  queryFn: async () => {
    const users = new Map<string, string[]>();
    const read = (startingToken?: string) =>
      reply(api.GET('/user-roles', { params: { query: { startingToken } } }));
    for await (const page of pagesOf(read))
      for (const { userId, roleName } of page.Items) users.set(userId, roleName);
    return users;
  },
});

/** The rules of all roles; null for those who may give roles, and not see their rules. */
export const rulesQuery = queryOptions({
  queryKey: ['access', 'rules'],
  queryFn: async () => {
    const rules: Constraint[] = [];
    const read = (startingToken?: string) =>
      reply(api.GET('/auth/constraints', { params: { query: { startingToken } } }));
    try {
      for await (const page of pagesOf(read)) rules.push(...page.Items);
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return null;
      throw error;
    }
    return rules;
  },
});

export const giveRole = (userId: string, roleName: string) =>
  reply(api.POST('/user-roles', { body: { userId, roleName: [roleName] } }));

/** Leaves a person these roles. */
export const leaveRoles = (userId: string, roleName: string[]) =>
  roleName.length
    ? reply(api.PUT('/user-roles', { body: { userId, roleName } }))
    : reply(api.DELETE('/user-roles', { body: { userId } }));

/** Acts of people, by the requests that do them. */
const REQUESTS = {
  database: ['GET', '/database/{databaseId}'],
  create: ['POST', '/assets'],
  see: ['GET', '/database/{databaseId}/assets/{assetId}'],
  download: ['POST', '/database/{databaseId}/assets/{assetId}/download'],
  change: ['PUT', '/database/{databaseId}/assets/{assetId}'],
  upload: ['POST', '/uploads'],
  archive: ['DELETE', '/database/{databaseId}/assets/{assetId}/archiveAsset'],
} as const;

export type Act = keyof typeof REQUESTS;

/** Whether an act is about a database, and not about one of its assets. */
export const isOfDatabase = (act: Act): boolean => act === 'database' || act === 'create';

export function explain(
  userId: string,
  act: Act,
  place: { databaseId: string; assetId: string },
  mfa: boolean,
): Promise<Explanation> {
  const [method, route] = REQUESTS[act];
  const { databaseId } = place;
  const assetId = isOfDatabase(act) ? undefined : place.assetId;
  const query = { userId, method, route, databaseId, assetId, mfa };
  return reply(api.GET('/auth/explain', { params: { query } }));
}
