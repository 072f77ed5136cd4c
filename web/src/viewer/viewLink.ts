import { defaultStringifySearch } from '@tanstack/react-router';
import { assetAddress } from '../api/bookmarks';
import type { Place } from '../api/downloads';
import { texts } from '../texts';
import { toast } from '../ui/Toasts';
import type { StageFile } from './Poster';

/** A link to a file in a view, which is a text, or saved under an id. */
export function viewLink(
  place: Place,
  file: StageFile,
  view: { camera: string } | { view: string },
): string {
  const { versionId, assetVersionId } = file.earlier ?? {};
  const search = {
    file: file.path,
    version: assetVersionId,
    content: assetVersionId === undefined ? versionId : undefined,
    ...view,
  };
  const path = import.meta.env.BASE_URL.replace(/\/$/, '') + assetAddress(place);
  return location.origin + path + defaultStringifySearch(search);
}

export async function copyLink(url: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(url);
    toast(texts.copied);
  } catch {
    toast(url); // the browser allows no access to the clipboard
  }
}
