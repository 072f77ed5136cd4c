import { texts } from '../../texts';
import { formatNumber } from '../../texts/formats';
import type { SearchReply } from '../../api/search';
import type { Choice, Facet, FindState } from './findState';

export interface Value {
  value: Choice;
  /** How many assets have it. */
  assets: number;
}

export function valueLabel(value: Choice): string {
  return typeof value === 'boolean' ? (value ? texts.find.yes : texts.find.no) : String(value);
}

/** The values that the reply counts; chosen ones stay, even where nothing has them any more. */
export function facetValues(
  reply: SearchReply | undefined,
  facet: Facet,
  state: FindState,
): Value[] {
  const counted =
    reply?.aggregations?.[facet]?.buckets ??
    reply?.metadataFacets?.find(({ key }) => key === facet)?.buckets ??
    [];
  const values = counted.flatMap((bucket): Value[] => {
    const value = facet === 'fact_watertight' ? isTrue(bucket) : bucket.key;
    return isChoice(value) && value !== ''
      ? [{ value, assets: bucket.assets ?? bucket.doc_count }]
      : [];
  });
  // The server orders them by documents.
  values.sort((a, b) => b.assets - a.assets);
  const countedValues = new Set(values.map((value) => value.value));
  const others = (state.facets?.[facet] ?? []).filter((value) => !countedValues.has(value));
  return [...values, ...others.map((value) => ({ value, assets: 0 }))];
}

/** Attributes are counted by their texts, fields of documents by 0 and 1. */
function isTrue(bucket: { key?: unknown }): boolean {
  return bucket.key === true || bucket.key === 1 || bucket.key === 'true';
}

const isChoice = (value: unknown): value is Choice =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

const EXACT = 3_000;

/** A number of assets; the server counts up to 3,000, and estimates more. */
export const formatAssetCount = (assets: number): string =>
  assets > EXACT ? `≈ ${formatNumber(assets)}` : formatNumber(assets);
