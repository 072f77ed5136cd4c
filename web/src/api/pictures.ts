/**
 * Addresses of pictures. The server presigns a new one with each reply, and a browser caches by
 * address: the first address of a picture is used until shortly before it ends, also by a reload.
 */
import type { components } from './schema';

export type Preview = components['schemas']['Preview'];
export type Missing = components['schemas']['Missing'];

export interface Pictured {
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
let kept: Map<string, Kept> | null = null;
let saving: ReturnType<typeof setTimeout> | null = null;

/** Returns the address to load: the first one of this picture that has not ended. */
export function pictureUrl(preview: Preview, now = Date.now()): string {
  const known = map();
  const earlier = known.get(preview.id);
  if (earlier && earlier.ends - MARGIN > now) return earlier.url;
  const ends = Date.parse(preview.expiresAt);
  if (!/^(https?:|blob:|\/)/.test(preview.url)) return '';
  known.set(preview.id, { url: preview.url, ends });
  save();
  return preview.url;
}

/** Forgets all addresses: they are the rights of the user who signed out. */
export function forgetPictures(): void {
  kept = new Map();
  if (saving) clearTimeout(saving);
  saving = null;
}

function map(): Map<string, Kept> {
  if (kept) return kept;
  kept = new Map();
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    if (Array.isArray(stored)) kept = new Map(stored as [string, Kept][]);
  } catch {
    // Another program wrote the entry: pictures are loaded again.
    kept = new Map();
  }
  return kept;
}

function save(): void {
  saving ??= setTimeout(() => {
    saving = null;
    const entries = [...map()].slice(-MOST);
    try {
      sessionStorage.setItem(STORED, JSON.stringify(entries));
    } catch {
      // The storage is full: pictures are loaded again after a reload.
      sessionStorage.removeItem(STORED);
    }
  }, 300);
}
