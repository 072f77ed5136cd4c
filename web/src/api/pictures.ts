/**
 * Addresses of pictures. The server presigns a new one with each reply, and a browser caches by
 * address: the first address of a picture is used until shortly before it ends, also by a reload.
 * Searches name the pictures whose addresses the tab holds, which their replies do not sign again.
 */
import type { components } from './schema';
import { hasTexts, readList, storeList } from './tabStorage';

export type Preview = components['schemas']['Preview'];
export type Missing = components['schemas']['Missing'];
type SearchHit = components['schemas']['SearchHit'];

export interface PictureSource {
  preview?: Preview | null;
  previewMissing?: Missing | null;
  /**
   * Where the reply has no address: the preview's path in the asset, or null for the asset's own
   * preview. It is signed when it is shown.
   */
  file?: { databaseId: string; assetId: string; path: string | null };
}

const STORED = 'vitrine.previews';
const MOST = 1_000;
/** As many as one search may name: the latest. */
const MOST_NAMED = 200;
/** A picture that is scrolled into view later still loads. */
const MARGIN = 120_000;
let previews: Map<string, Preview> | null = null;
let saving: ReturnType<typeof setTimeout> | null = null;

/** The latest previews whose addresses have not ended. */
export const heldPreviews = (): Preview[] =>
  [...held().values()].filter(isCurrent).slice(-MOST_NAMED);

/** Returns the first preview of this picture whose addresses have not ended, and holds it. */
export function holdPreview(preview: Preview): Preview {
  const earlier = held().get(preview.id);
  // Files that were inspected by an earlier release have only the large picture.
  const isUsed = earlier && isCurrent(earlier) && (earlier.smallUrl || !preview.smallUrl);
  const used = isUsed ? earlier : preview;
  held().delete(preview.id);
  held().set(preview.id, used);
  save();
  return used;
}

/** Returns hits with the previews that their request held, and holds the others. */
export function withPreviews(hits: SearchHit[], named: readonly Preview[]): SearchHit[] {
  return hits.map((hit) => {
    const preview = hit.preview ?? named.find(({ id }) => id === hit.previewHeld);
    return {
      ...hit,
      ...(preview && { preview: holdPreview(preview) }),
      ...(hit.files && { files: withPreviews(hit.files, named) }),
    };
  });
}

/** Returns the address to load; a `small` one has 256 pixels, if there is one. */
export function pictureUrl(preview: Preview, small = false): string {
  const { url, smallUrl } = held().get(preview.id) ?? preview;
  const signed = (small && smallUrl) || url;
  return /^(https?:|blob:|\/)/.test(signed) ? signed : '';
}

/** Forgets the addresses of a picture that did not load: the next reply has others. */
export function dropPicture({ id }: Preview): void {
  held().delete(id);
  save();
}

/** Forgets all addresses: they are the rights of the user who signed out. */
export function clearPictures(): void {
  previews = new Map();
  if (saving) clearTimeout(saving);
  saving = null;
}

const isCurrent = ({ expiresAt }: Preview): boolean => Date.parse(expiresAt) - MARGIN > Date.now();

const isPreview = (value: unknown): value is Preview => hasTexts(value, 'id', 'url', 'expiresAt');

const held = (): Map<string, Preview> =>
  (previews ??= new Map(readList(STORED, isPreview)?.map((preview) => [preview.id, preview])));

function save(): void {
  saving ??= setTimeout(() => {
    saving = null;
    storeList(STORED, [...held().values()].slice(-MOST));
  }, 300);
}
