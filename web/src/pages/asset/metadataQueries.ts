import { queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import { pagesOf } from '../../api/pages';
import { texts } from '../../texts';
import { formatDate, formatExactNumber, formatDateTime } from '../../texts/formats';
import type { Place } from '../../api/downloads';
import { nullIfDenied } from './relationQueries';

export interface MetadataEntry {
  name: string;
  value: string;
}

/** What people have noted about an asset, in the order of its schemas, as they read it. */
export const metadataQuery = (place: Place) =>
  queryOptions({
    queryKey: ['asset', place.databaseId, place.assetId, 'metadata'],
    queryFn: async (): Promise<MetadataEntry[]> => {
      const found: MetadataEntry[] = [];
      const read = async (startingToken?: string) => {
        const params = { path: place, query: { startingToken } };
        const sent = reply(api.GET('/database/{databaseId}/assets/{assetId}/metadata', { params }));
        return (await nullIfDenied(sent)) ?? { metadata: [], NextToken: null };
      };
      for await (const { metadata } of pagesOf(read)) {
        for (const { metadataKey: name, metadataValue, metadataValueType } of metadata) {
          // A field of a schema that nobody has filled in.
          if (metadataValue)
            found.push({ name, value: formatValue(metadataValue, metadataValueType) });
        }
      }
      return found;
    },
  });

/** A value by its type; one that is not of its type as it is. */
export function formatValue(value: string, type: string): string {
  switch (type) {
    case 'number':
      return value.trim() && Number.isFinite(Number(value))
        ? formatExactNumber(Number(value))
        : value;
    case 'boolean':
      return { true: texts.find.yes, false: texts.find.no }[value.toLowerCase()] ?? value;
    case 'date':
      // Without a time it is a day, in any zone.
      return /^\d{4}-\d\d-\d\d$/.test(value) ? formatDate(`${value}T00:00`) : formatDateTime(value);
    case 'xyz':
    case 'wxyz':
    case 'lla':
      return formatVector(value) ?? value;
    default:
      return value;
  }
}

/** The numbers of a vector or a place with their names. */
function formatVector(value: string): string | null {
  try {
    const parts = Object.entries(JSON.parse(value) as object);
    if (!parts.every(([, each]) => typeof each === 'number')) return null;
    return parts
      .map(([name, each]) => `${name}\u00a0${formatExactNumber(Number(each))}`)
      .join(', ');
  } catch {
    return null;
  }
}
