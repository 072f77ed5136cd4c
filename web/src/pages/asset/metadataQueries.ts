import { queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import { pagesOf } from '../../api/listing';
import { texts } from '../../texts';
import { day, exact, time } from '../../ui/formats';
import type { Place } from '../../viewer/sources';
import { unlessDenied } from './relationQueries';

export interface Entry {
  name: string;
  value: string;
}

/** What people have noted about an asset, in the order of its schemas, as they read it. */
export const metadataOf = (place: Place) =>
  queryOptions({
    queryKey: ['asset', place.databaseId, place.assetId, 'metadata'],
    queryFn: async (): Promise<Entry[]> => {
      const found: Entry[] = [];
      const read = async (startingToken?: string) => {
        const params = { path: place, query: { startingToken } };
        const sent = reply(api.GET('/database/{databaseId}/assets/{assetId}/metadata', { params }));
        return (await unlessDenied(sent)) ?? { metadata: [], NextToken: null };
      };
      for await (const { metadata } of pagesOf(read)) {
        for (const { metadataKey: name, metadataValue, metadataValueType } of metadata) {
          // A field of a schema that nobody has filled in.
          if (metadataValue) found.push({ name, value: textOf(metadataValue, metadataValueType) });
        }
      }
      return found;
    },
  });

/** A value by its type; one that is not of its type as it is. */
export function textOf(value: string, type: string): string {
  switch (type) {
    case 'number':
      return value.trim() && Number.isFinite(Number(value)) ? exact(Number(value)) : value;
    case 'boolean':
      return { true: texts.find.yes, false: texts.find.no }[value.toLowerCase()] ?? value;
    case 'date':
      // Without a time it is a day, in any zone.
      return /^\d{4}-\d\d-\d\d$/.test(value) ? day(`${value}T00:00`) : time(value);
    case 'xyz':
    case 'wxyz':
    case 'lla':
      return partsOf(value) ?? value;
    default:
      return value;
  }
}

/** The numbers of a vector or a place with their names. */
function partsOf(value: string): string | null {
  try {
    const parts = Object.entries(JSON.parse(value) as object);
    if (!parts.every(([, each]) => typeof each === 'number')) return null;
    return parts.map(([name, each]) => `${name}\u00a0${exact(Number(each))}`).join(', ');
  } catch {
    return null;
  }
}
