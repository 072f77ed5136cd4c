/**
 * What a glTF refers to, read before three.js sees it: a file comes from anyone, and may name any
 * address. Only files of its own asset are loaded.
 */

const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
/** All references of a file are resolved below this address, which nothing serves. */
export const BASE = 'vitrine:///';
/** What is loaded in place of anything that is no file of the asset. */
export const BLOCKED = 'data:application/octet-stream,';

export interface References {
  uris: string[];
  extensions: string[];
  /** Those without which the file cannot be shown. */
  required: string[];
}

/**
 * Returns what a GLB or a glTF refers to.
 *
 * Throws a SyntaxError or RangeError if the file is neither.
 */
export function referencesOf(data: ArrayBuffer): References {
  const document: unknown = JSON.parse(new TextDecoder().decode(jsonOf(data)));
  return {
    uris: [...listed(document, 'buffers'), ...listed(document, 'images')].filter(
      (uri) => !uri.startsWith('data:'),
    ),
    extensions: texts(property(document, 'extensionsUsed')),
    required: texts(property(document, 'extensionsRequired')),
  };
}

function jsonOf(data: ArrayBuffer): Uint8Array {
  const view = new DataView(data);
  if (data.byteLength < 20 || view.getUint32(0, true) !== MAGIC) return new Uint8Array(data);
  if (view.getUint32(16, true) !== JSON_CHUNK) throw new SyntaxError('The GLB has no JSON chunk');
  return new Uint8Array(data, 20, view.getUint32(12, true));
}

/** A reference as a person reads it. */
export function nameOfReference(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri; // a name with a bare percent sign
  }
}

/**
 * Returns the path in the asset that a reference of the file at `from` leads to, or null if it
 * leads anywhere else.
 */
export function pathOfReference(uri: string, from: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(uri) || uri.startsWith('//') || uri.includes('\\')) return null;
  const decoded = nameOfReference(uri);
  const start = decoded.startsWith('/') ? [] : from.split('/').slice(1, -1);
  for (const segment of decoded.split('/')) {
    if (segment === '..') {
      if (!start.length) return null;
      start.pop();
    } else if (segment !== '.' && segment !== '') start.push(segment);
  }
  return start.length ? `/${start.join('/')}` : null;
}

/** Returns the address that three.js may load in place of `url`. */
export function allowedUrl(url: string, companions: ReadonlyMap<string, string>): string {
  if (url.startsWith(BASE)) return companions.get(url.slice(BASE.length)) ?? BLOCKED;
  // Contents of the file itself: embedded, or from its binary chunk.
  if (/^data:(application|image)\//i.test(url) || url.startsWith('blob:')) return url;
  return BLOCKED;
}

function listed(document: unknown, name: string): string[] {
  const entries = property(document, name);
  return Array.isArray(entries) ? entries.flatMap((entry) => texts([property(entry, 'uri')])) : [];
}

export function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function texts(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : [];
}
