import { queryOptions } from '@tanstack/react-query';
import { api, reply, replyWithHeaders } from '../../api/client';
import { pagesOf } from '../../api/pages';
import type { components } from '../../api/schema';
import { recordWrite } from '../../api/writes';
import { texts } from '../../texts';
import { formatDate, formatExactNumber, formatDateTime } from '../../texts/formats';
import type { Place } from '../../api/downloads';
import { nullIfDenied } from './relationQueries';

/** The types of values, as the API calls them. */
export const VALUE_TYPES = [
  'string',
  'multiline_string',
  'number',
  'boolean',
  'date',
  'xyz',
  'wxyz',
  'lla',
  'matrix4x4',
  'geopoint',
  'geojson',
  'json',
  'inline_controlled_list',
] as const;
export type ValueType = (typeof VALUE_TYPES)[number];

export const toValueType = (type: string): ValueType =>
  VALUE_TYPES.find((known) => known === type) ?? 'string';

/** What a metadata schema says about a key. */
interface SchemaField {
  name: string;
  /** Null if schemas contradict each other. */
  type: ValueType | null;
  isRequired: boolean;
  dependsOn: readonly string[];
  choices: readonly string[];
}

export interface MetadataField {
  key: string;
  /** '' if no one has filled it in; a default if the schema has one. */
  value: string;
  type: ValueType;
  /** Not if it is only a field of a schema, whose default is the value. */
  isStored: boolean;
  schema: SchemaField | null;
}

/** The type of a value that is written: a schema may have changed since the record was. */
export const typeOf = ({ type, schema }: Pick<MetadataField, 'type' | 'schema'>): ValueType =>
  schema?.type ?? type;

export interface Metadata {
  fields: MetadataField[];
  /** Only keys of the schemas are accepted. */
  isRestricted: boolean;
}

type Records = components['schemas']['MetadataReply'];

const ASSET = '/database/{databaseId}/assets/{assetId}/metadata';
const FILE = `${ASSET}/file` as const;

/** What people have noted about an asset, or one of its files; null if the caller may not see it. */
export const metadataQuery = (place: Place, filePath?: string) => {
  const { databaseId, assetId } = place;
  return queryOptions({
    queryKey:
      filePath === undefined
        ? ['asset', databaseId, assetId, 'metadata']
        : ['files', databaseId, assetId, 'metadata', filePath],
    queryFn: () => nullIfDenied(readMetadata(place, filePath)),
  });
};

export async function readMetadata(place: Place, filePath?: string): Promise<Metadata> {
  const metadata: Metadata = { fields: [], isRestricted: false };
  const read = (startingToken?: string): Promise<Records> =>
    filePath === undefined
      ? reply(api.GET(ASSET, { params: { path: place, query: { startingToken } } }))
      : reply(
          api.GET(FILE, {
            params: { path: place, query: { startingToken, filePath, type: 'metadata' } },
          }),
        );
  for await (const page of pagesOf(read)) {
    metadata.fields.push(...page.metadata.map(toField));
    metadata.isRestricted ||= page.restrictMetadataOutsideSchemas;
  }
  return metadata;
}

function toField(entry: Records['metadata'][number]): MetadataField {
  return {
    key: entry.metadataKey,
    value: entry.metadataValue,
    type: toValueType(entry.metadataValueType),
    isStored: entry.metadataStored,
    schema: entry.metadataSchemaField
      ? {
          name: entry.metadataSchemaName ?? '',
          type:
            entry.metadataSchemaMultiFieldConflict || !entry.metadataSchemaValueType
              ? null
              : toValueType(entry.metadataSchemaValueType),
          isRequired: entry.metadataSchemaRequired ?? false,
          dependsOn: entry.metadataSchemaDependsOn ?? [],
          choices: entry.metadataSchemaControlledListKeys ?? [],
        }
      : null,
  };
}

/** Writes records, and removes others. Returns the server's reasons for keys that it refused. */
export async function writeMetadata(
  place: Place,
  filePath: string | undefined,
  changed: readonly Pick<MetadataField, 'key' | 'value' | 'type'>[],
  removed: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const params = { path: place };
  const file = filePath === undefined ? null : { filePath, type: 'metadata' as const };
  const metadata = changed.map(({ key, value, type }) => ({
    metadataKey: key,
    metadataValue: value,
    metadataValueType: type,
  }));
  const metadataKeys = [...removed];
  const requests = [
    changed.length > 0 &&
      (() =>
        file
          ? api.PUT(FILE, { params, body: { ...file, metadata } })
          : api.PUT(ASSET, { params, body: { metadata } })),
    removed.length > 0 &&
      (() =>
        file
          ? api.DELETE(FILE, { params, body: { ...file, metadataKeys } })
          : api.DELETE(ASSET, { params, body: { metadataKeys } })),
  ];
  const refused = new Map<string, string>();
  for (const request of requests) {
    if (!request) continue;
    const { data, headers } = await replyWithHeaders(request());
    recordWrite(headers);
    for (const { key, error } of data.failedItems) refused.set(key, error);
  }
  return refused;
}

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
