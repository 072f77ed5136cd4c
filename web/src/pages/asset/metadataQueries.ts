import { queryOptions } from '@tanstack/react-query';
import { api, reply, replyWithHeaders } from '../../api/client';
import { ApiError, fieldTexts } from '../../api/errors';
import { pagesOf } from '../../api/pages';
import type { components } from '../../api/schema';
import { pollWhileLagging, search } from '../../api/search';
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

/** What searches do not find of the places in an asset's metadata, in the server's words. */
export const warningsQuery = (place: Place) =>
  queryOptions({
    queryKey: [...metadataQuery(place).queryKey, 'warnings'],
    queryFn: async ({ signal }) => {
      const filters = [
        { term: { str_databaseid: place.databaseId } },
        { term: { str_assetid: place.assetId } },
      ];
      const body = { filters, entityTypes: ['asset' as const], size: 1, aggregations: false };
      const sourceFields = ['list_warnings'];
      const result = await search({ ...body, includeArchived: true, sourceFields }, signal);
      const [document] = result.reply.hits.hits;
      return { warnings: (document?._source.list_warnings ?? []) as string[], ...result };
    },
    refetchInterval: ({ state }) => pollWhileLagging(state.data),
  });

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

/** A value to write, or a record to remove, and what is stored as far as the user knows. */
export interface ValueChange {
  key: string;
  /** Null removes the record. */
  value: string | null;
  type: ValueType;
  /** Null if there is no record. */
  before: string | null;
}

/** What is to be changed of an asset, or of one of its files. */
export interface EntityChange {
  place: Place;
  filePath?: string | undefined;
  values: readonly ValueChange[];
}

export interface WriteOutcome {
  isDone: boolean;
  /** Someone else has changed these values; both are to be shown. */
  isConflict: boolean;
  /** The server's words about single keys, and about all of them. */
  refusals: ReadonlyMap<string, string>;
  message: string;
}

/** The values of one entity that a request may have. */
export const MOST_OF_ENTITY = 90;

/** Changes several entities in one request, each only if its values are the expected ones. */
export async function writeMetadata(changes: readonly EntityChange[]): Promise<WriteOutcome[]> {
  const entities = changes.map(({ place, filePath, values }) => ({
    ...place,
    ...(filePath !== undefined && { filePath }),
    metadata: values.flatMap(({ key, value, type, before }) =>
      value === null
        ? []
        : [
            {
              metadataKey: key,
              metadataValue: value,
              metadataValueType: type,
              expectedValue: before,
            },
          ],
    ),
    removals: values.flatMap(({ key, value, before }) =>
      value === null ? [{ metadataKey: key, expectedValue: before ?? '' }] : [],
    ),
  }));
  const { data, headers } = await replyWithHeaders(
    api.PUT('/metadata/batch', { body: { entities } }),
  );
  recordWrite(headers);
  return data.results.map((result, at) => {
    const { metadata = [], removals = [] } = entities[at] ?? {};
    return toOutcome(result, { metadata, removals });
  });
}

type Keys = Record<'metadata' | 'removals', readonly { metadataKey: string }[]>;

/** A result names the keys that it is about by their number in the request. */
function toOutcome(result: components['schemas']['EntityResult'], keys: Keys): WriteOutcome {
  const { status, code, message, errors, conflicts } = result;
  const isDone = status < 400;
  const isConflict = Boolean(conflicts?.length);
  const refusals = new Map<string, string>();
  const rest = new Set<string>();
  const error = new ApiError(status, code ?? '', message, errors ?? []);
  for (const refused of isDone ? [] : fieldTexts(error)) {
    const [, list, number] = /^(metadata|removals)\.(\d+)\./.exec(refused.field) ?? [];
    const key = keys[list === 'removals' ? 'removals' : 'metadata'][Number(number ?? NaN)];
    if (key) refusals.set(key.metadataKey, refused.message);
    else rest.add(refused.message);
  }
  return { isDone, isConflict, refusals, message: isConflict ? '' : [...rest].join(' ') };
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
