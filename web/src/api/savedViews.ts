import { queryOptions } from '@tanstack/react-query';
import { api, reply } from './client';
import type { Place } from './downloads';
import { queryClient } from './queries';
import type { components } from './schema';

export type NewView = components['schemas']['SaveViewBody'];
export type SavedView = components['schemas']['ViewItem'];

const ROUTE = '/database/{databaseId}/assets/{assetId}/views';
const viewRoute = `${ROUTE}/{viewId}` as const;
const ID = /^[0-9a-f]{32}$/;

/** Whether a link names a saved view; the text of a view has other signs. */
export const isSavedView = (text: string): boolean => ID.test(text);

export const viewsQuery = (place: Place) =>
  queryOptions({
    queryKey: ['views', place.databaseId, place.assetId],
    queryFn: async () => (await reply(api.GET(ROUTE, { params: { path: place } }))).items,
    // The addresses of the pictures end.
    staleTime: 0,
  });

export const getView = (place: Place, viewId: string) =>
  reply(api.GET(viewRoute, { params: { path: { ...place, viewId } } }));

/** Saves a view, and returns the id that its content has. */
export async function saveView(place: Place, view: NewView): Promise<string> {
  const lines = [
    view.name,
    view.filePath,
    view.assetVersionId ?? '',
    view.versionId ?? '',
    view.view,
  ];
  const bytes = new TextEncoder().encode(lines.join('\n'));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const digits = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0'));
  const viewId = digits.join('').slice(0, 32);
  await reply(api.PUT(viewRoute, { params: { path: { ...place, viewId } }, body: view }));
  return viewId;
}

export async function deleteView(place: Place, viewId: string): Promise<void> {
  await reply(api.DELETE(viewRoute, { params: { path: { ...place, viewId } } }));
  await queryClient.invalidateQueries(viewsQuery(place));
}
