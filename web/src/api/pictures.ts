/**
 * Addresses of pictures. The server presigns a new one with each reply, and a browser caches by
 * address: the first address of a picture is used until shortly before it ends, also by a reload.
 */
import type { components } from './schema';

export type Preview = components['schemas']['Preview'];
export type Missing = components['schemas']['Missing'];

export interface PictureSource {
  preview?: Preview | null;
  previewMissing?: Missing | null;
  /**
   * Where the reply has no address: the preview's path in the asset, or null for the asset's own
   * preview. It is signed when it is shown.
   */
  file?: { databaseId: string; assetId: string; path: string | null };
}

interface Kept {
  url: string;
  ends: number;
}

const STORED = 'vitrine.pictures';
const MOST = 2_000;
const MARGIN = 60_000;
let urls: Map<string, Kept> | null = null;
let saving: ReturnType<typeof setTimeout> | null = null;

/**
 * Returns the address to load: the first one of this picture that has not ended. A `small` one has
 * 256 pixels; files that were inspected by an earlier release have only the large one.
 */
export function pictureUrl(preview: Preview, small = false, now = Date.now()): string {
  const cachedUrls = pictureUrls();
  const signed = (small && preview.smallUrl) || preview.url;
  const id = signed === preview.url ? preview.id : `${preview.id}.small`;
  const earlier = cachedUrls.get(id);
  if (earlier && earlier.ends - MARGIN > now) return earlier.url;
  const ends = Date.parse(preview.expiresAt);
  if (!/^(https?:|blob:|\/)/.test(signed)) return '';
  cachedUrls.set(id, { url: signed, ends });
  save();
  return signed;
}

/** Forgets the addresses of a picture that did not load: the next reply has others. */
export function dropPicture({ id }: Preview): void {
  for (const key of [id, `${id}.small`]) pictureUrls().delete(key);
  save();
}

/** Forgets all addresses: they are the rights of the user who signed out. */
export function clearPictures(): void {
  urls = new Map();
  if (saving) clearTimeout(saving);
  saving = null;
}

function pictureUrls(): Map<string, Kept> {
  if (urls) return urls;
  urls = new Map();
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    if (Array.isArray(stored)) urls = new Map(stored as [string, Kept][]);
  } catch {
    // Another program wrote the entry: pictures are loaded again.
    urls = new Map();
  }
  return urls;
}

function save(): void {
  saving ??= setTimeout(() => {
    saving = null;
    const entries = [...pictureUrls()].slice(-MOST);
    try {
      sessionStorage.setItem(STORED, JSON.stringify(entries));
    } catch {
      // The storage is full: pictures are loaded again after a reload.
      sessionStorage.removeItem(STORED);
    }
  }, 300);
}
