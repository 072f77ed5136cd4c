import { queryOptions } from '@tanstack/react-query';
import { api, reply } from '../../api/client';
import { pagesOf } from '../../api/pages';
import { texts } from '../../texts';
import { formatDate, formatExactNumber, formatDateTime } from '../../texts/formats';
import type { Place } from '../../api/downloads';
import { nullIfDenied } from './relationQueries';

interface MetadataEntry {
  name: string;
  value: string;
}

/** What people have noted about an asset, in the order of its schemas, as they read it. */
export const metadataQuery = (place: Place) =>
  queryOptions({
    queryKey: ['asset', place.databaseId, place.assetId, 'metadata'],
    queryFn: async (): Promise<MetadataEntry[]> => {
      const entries: MetadataEntry[] = [];
      const read = async (startingToken?: string) => {
        const params = { path: place, query: { startingToken } };
        const request = reply(
          api.GET('/database/{databaseId}/assets/{assetId}/metadata', { params }),
        );
        return (await nullIfDenied(request)) ?? { metadata: [], NextToken: null };
      };
      for await (const { metadata } of pagesOf(read)) {
        for (const { metadataKey: name, metadataValue, metadataValueType } of metadata) {
          // A field of a schema that no one has filled in.
          if (metadataValue)
            entries.push({ name, value: formatValue(metadataValue, metadataValueType) });
        }
      }
      return entries;
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
    const coordinates = Object.entries(JSON.parse(value) as object);
    if (!coordinates.every(([, coordinate]) => typeof coordinate === 'number')) return null;
    return coordinates
      .map(([name, coordinate]) => `${name}\u00a0${formatExactNumber(Number(coordinate))}`)
      .join(', ');
  } catch {
    return null;
  }
}
