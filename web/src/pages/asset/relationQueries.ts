import { queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import { ApiError } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import { holdPreview } from '../../api/pictures';
import { queryClient } from '../../api/queries';
import type { components } from '../../api/schema';
import type { Place } from '../../api/downloads';
import { compareNames } from '../../texts/formats';

type References = components['schemas']['FileDependenciesReply'];
export type Reference = components['schemas']['DependencyReply'];
type SimilarFile = components['schemas']['SimilarFileReply'];
type LinkedAsset = components['schemas']['LinkedAsset'];

/** An asset, or one of its files, to be shown as a picture. */
export interface LinkedItem extends Place {
  name: string;
  path?: string;
  note?: string;
}

const ROUTE = '/database/{databaseId}/assets/{assetId}';
const PAGE = 500;
const AT_ONCE = 6;
const SIMILAR = 8;
/** Below this, shapes have little more in common than that they have one. */
const LEAST = 0.25;

/** A part of the page that the caller may not see, or that the deployment has not, is left out. */
export async function nullIfDenied<T>(request: Promise<T>): Promise<T | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.status)) return null;
    throw error;
  }
}

// The keys begin as that of the files does: an upload changes what of these is found.
const filesKey = (place: Place, ...rest: string[]) => [
  'files',
  place.databaseId,
  place.assetId,
  ...rest,
];

/** The files that a file refers to, and whether the asset has them. */
export const referencesQuery = (place: Place, filePath: string) =>
  queryOptions({
    queryKey: filesKey(place, 'references', filePath),
    queryFn: async (): Promise<References | null> => {
      const query = { filePath };
      const response = await nullIfDenied(
        reply(api.GET(`${ROUTE}/dependencies`, { params: { path: place, query } })),
      );
      return response?.items[0] ?? null;
    },
  });

/** How many files each file of an asset lacks, by path; of very many files, of the first ones. */
export const missingReferencesQuery = (place: Place) =>
  queryOptions({
    queryKey: filesKey(place, 'missing'),
    queryFn: async (): Promise<ReadonlyMap<string, number>> => {
      const query = { pageSize: PAGE, maxItems: PAGE };
      const response = await nullIfDenied(
        reply(api.GET(`${ROUTE}/dependencies`, { params: { path: place, query } })),
      );
      const counts = (response?.items ?? []).map(
        (item) => [item.filePath, item.references.filter(isMissing).length] as const,
      );
      return new Map(counts.filter(([, lacking]) => lacking > 0));
    },
  });

/** Whether a program that opens the file from this asset alone would not find the reference. */
export const isMissing = ({ state }: Reference): boolean =>
  state === 'missing' || state === 'absolute' || state === 'outside';

/** The paths of the files that a file finds by its own place, each once. */
export const referencedPaths = (references: References | null): string[] => [
  ...new Set(references?.references.flatMap(({ filePath }) => filePath ?? [])),
];

/** The files of the asset that refer to a file, or from outside to one of a folder (`…/`). */
export const dependentsQuery = (place: Place, path: string) =>
  queryOptions({
    queryKey: filesKey(place, 'users', path),
    queryFn: async (): Promise<string[]> => {
      const target = { filePath: path.replace(/\/$/, ''), isPrefix: path.endsWith('/') };
      const users: string[] = [];
      const read = async (startingToken?: string) => {
        const query = { ...target, pageSize: PAGE, maxItems: PAGE, startingToken };
        const request = reply(api.GET(`${ROUTE}/dependents`, { params: { path: place, query } }));
        return (await nullIfDenied(request)) ?? { items: [] };
      };
      for await (const page of pagesOf(read)) {
        users.push(...page.items.map((item) => item.filePath));
        if (users.length >= PAGE) break;
      }
      return users;
    },
  });

/** The files outside of a folder (`…/`) that its files find by their own place. */
export const folderReferencesQuery = (place: Place, folder: string) =>
  queryOptions({
    queryKey: filesKey(place, 'needs', folder),
    queryFn: async (): Promise<string[]> => {
      const needs = new Set<string>();
      const read = async (startingToken?: string) => {
        const query = { pageSize: PAGE, maxItems: PAGE, startingToken };
        const request = reply(api.GET(`${ROUTE}/dependencies`, { params: { path: place, query } }));
        return (await nullIfDenied(request)) ?? { items: [] };
      };
      for await (const page of pagesOf(read)) {
        const own = page.items.filter((item) => item.filePath.startsWith(folder));
        for (const path of own.flatMap(referencedPaths))
          if (!path.startsWith(folder)) needs.add(path);
        if (needs.size >= PAGE) break;
      }
      return [...needs].sort(compareNames);
    },
  });

interface Links {
  parents: LinkedItem[];
  children: LinkedItem[];
  related: LinkedItem[];
}

/** The assets that an asset is a part of, those that it consists of, and those like it. */
export const linksQuery = (place: Place) =>
  queryOptions({
    queryKey: ['links', place.databaseId, place.assetId],
    queryFn: async (): Promise<Links> => {
      const response = await nullIfDenied(
        reply(api.GET(`${ROUTE}/asset-links`, { params: { path: place } })),
      );
      return {
        parents: toLinkedItems(response?.parents),
        children: toLinkedItems(response?.children),
        related: toLinkedItems(response?.related),
      };
    },
  });

/** The names of the assets that consist of some of these, and are not among them. */
export const parentsQuery = (places: readonly Place[]) =>
  queryOptions({
    queryKey: ['links', 'wholes', places.map(itemKey)],
    queryFn: async (): Promise<string[]> => {
      const wholes = new Map<string, string>();
      for (let at = 0; at < places.length; at += AT_ONCE) {
        const some = places.slice(at, at + AT_ONCE);
        const links = await Promise.all(some.map((place) => queryClient.query(linksQuery(place))));
        for (const parent of links.flatMap(({ parents }) => parents))
          wholes.set(itemKey(parent), parent.name);
      }
      places.forEach((child) => wholes.delete(itemKey(child)));
      return [...wholes.values()];
    },
    staleTime: 0,
  });

/** An asset that is linked more than once, under several aliases, is shown once with them. */
export function toLinkedItems(links: readonly LinkedAsset[] = []): LinkedItem[] {
  const shown = new Map<string, LinkedItem>();
  for (const { databaseId, assetId, assetName, assetLinkAliasId: alias } of links) {
    const id = `${databaseId}/${assetId}`;
    const notes = [shown.get(id)?.note, alias].filter(Boolean);
    shown.set(id, { databaseId, assetId, name: assetName, note: notes.join(', ') });
  }
  return [...shown.values()];
}

/** What is most like a file by its shape: files of its asset, and of each other asset the best. */
export const similarFilesQuery = (place: Place, filePath: string) =>
  queryOptions({
    queryKey: ['similar', place.databaseId, place.assetId, filePath],
    queryFn: async (): Promise<SimilarFile[]> => {
      const query = { filePath, size: 4 * SIMILAR };
      const response = await nullIfDenied(
        reply(api.GET(`${ROUTE}/files/similar`, { params: { path: place, query } })),
      );
      const assets = new Set<string>();
      const alike = response?.items.filter(({ assetId, similarity }) => {
        if (similarity < LEAST || assets.has(assetId)) return false;
        if (assetId !== place.assetId) assets.add(assetId);
        return true;
      });
      return alike?.slice(0, SIMILAR) ?? [];
    },
  });

/** The pictures of assets and files, in their order; null where there is none to show. */
export const picturesQuery = (items: readonly LinkedItem[]) =>
  queryOptions({
    queryKey: ['previews', items.map(itemKey)],
    queryFn: async () => {
      const response = await nullIfDenied(
        reply(
          api.POST('/previews', {
            body: {
              items: items.map(({ databaseId, assetId, path }) => ({
                databaseId,
                assetId,
                key: path,
              })),
            },
          }),
        ),
      );
      return new Map(
        response?.items.map((item) => [
          itemKey({ ...item, path: item.key ?? undefined }),
          { ...item, preview: item.preview && holdPreview(item.preview) },
        ]),
      );
    },
    enabled: items.length > 0,
    staleTime: 10 * 60_000,
  });

export const itemKey = ({ databaseId, assetId, path }: Omit<LinkedItem, 'name'>): string =>
  JSON.stringify([databaseId, assetId, path ?? null]);
