/**
 * What a building consists of: types and properties of the nodes of its GLB. It comes from a file,
 * and so may be anything.
 */

import type { Object3D } from 'three';
import { fetchDerivedGlb, type Place } from '../api/downloads';
import { formatExactNumber } from '../texts/formats';
import { viewerTexts } from '../texts/viewer';
import { fetchBytes } from './fetchBytes';
import { property } from './gltf';
import { elementId } from './parts';

/** A few kilobytes can decompress to gigabytes. */
const MOST_BYTES = 64 * 2 ** 20;

export interface BuildingElement {
  type: string;
  typeName: string;
  storey: string;
  globalId: string;
  sets: { name: string; values: [string, string][] }[];
}

export type Structure = (node: Object3D) => BuildingElement | null;

/** Loads the structure that belongs to the GLB of a version of a file. */
export async function loadStructure(
  place: Place,
  path: string,
  versionId: string,
): Promise<Structure> {
  const { glb, structure } = await fetchDerivedGlb(place, path);
  if (!structure || glb?.versionId !== versionId) throw new Error(viewerTexts.noProperties);
  const { signal } = new AbortController();
  return parseStructure(await fetchBytes(structure.url, { signal, large: true }));
}

export async function parseStructure(
  compressed: ArrayBuffer,
  mostBytes = MOST_BYTES,
): Promise<Structure> {
  const { body } = new Response(compressed);
  const reader = body?.pipeThrough(new DecompressionStream('gzip')).getReader();
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  let document: unknown;
  try {
    for (let chunk = await reader?.read(); chunk?.value; chunk = await reader?.read()) {
      bytes += chunk.value.length;
      if (bytes > mostBytes) throw new RangeError();
      text += decoder.decode(chunk.value, { stream: true });
    }
    document = JSON.parse(text);
  } catch {
    throw new Error(viewerTexts.noProperties);
  }
  return (node) => {
    const element = property(property(document, 'elements'), String(elementId(node)));
    return element === undefined ? null : elementOf(element, property(document, 'sets'));
  };
}

function elementOf(element: unknown, sets: unknown): BuildingElement {
  const text = (name: string) => textOf(property(element, name));
  return {
    type: text('type'),
    typeName: text('typeName'),
    storey: text('storey'),
    globalId: text('globalId'),
    sets: Object.values(property(element, 'sets') ?? []).map((number) => {
      const set = property(sets, String(number));
      const values = Object.entries(property(set, 'values') ?? {});
      return {
        name: textOf(property(set, 'name')),
        values: values.map(([name, value]) => [name, textOf(value)]),
      };
    }),
  };
}

function textOf(value: unknown): string {
  if (typeof value === 'number') return formatExactNumber(value);
  if (typeof value === 'boolean') return value ? viewerTexts.yes : viewerTexts.no;
  return typeof value === 'string' ? value : '';
}
