import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../api/errors';
import { assetPath, type Hit } from '../../api/hits';
import { search, type SearchBody } from '../../api/search';
import { linesOf, positionOf, WHOLE, type MapView, type Position } from '../../ui/earth';
import { filtersOf } from './conditionFilters';
import type { FindState } from './findState';
import { searchBody } from './searchBody';

/** The most that the server returns of folded hits. */
export const MOST_HITS = 100;
/** What searches compare with places: all of the Earth. */
const EARTH = { topLeft: { lat: 90, lon: -180 }, bottomRight: { lat: -90, lon: 180 } };
const OF_ASSET = ['geo_MD_location', 'metadata'];
const OF_FILES = ['AB_.fact_latitude', 'AB_.fact_longitude'];

/** A place of an asset, or where one of its photographs was taken. */
export interface Spot extends Position {
  databaseId: string;
  assetId: string;
  name: string;
  path?: string;
}

export interface Places {
  spots: Spot[];
  /** There are more hits with places than one request returns. */
  isCut: boolean;
}

/** The places of the hits of a search: in metadata of assets, and in facts of photographs. */
export const placesQuery = (state: FindState) =>
  queryOptions({
    queryKey: ['search', 'places', { ...state, view: undefined }],
    queryFn: async ({ signal }): Promise<Places> => {
      const conditions = filtersOf(state.meta ?? []);
      const body = {
        ...searchBody(state, 1, false, conditions),
        from: 0,
        size: MOST_HITS,
        fileCounts: false,
        previews: false,
      };
      const taken = { key: 'fact_latitude', op: 'exists' } as const;
      const replies = await Promise.all([
        searchIfIndexed({ ...body, geoSearch: { bbox: EARTH }, sourceFields: OF_ASSET }, signal),
        searchIfIndexed(
          {
            ...body,
            metadataFilters: [...(body.metadataFilters ?? []), taken],
            sourceFields: OF_FILES,
          },
          signal,
        ),
      ]);
      return {
        spots: replies.flatMap(({ hits }) => spotsOf(hits)),
        isCut: replies.some(({ total }) => total > MOST_HITS),
      };
    },
  });

/** Indexes of an earlier release hold no places: there is nothing to show of them. */
async function searchIfIndexed(body: SearchBody, signal: AbortSignal) {
  try {
    const { reply } = await search(body, signal);
    return { hits: reply.hits.hits as Hit[], total: reply.assetsFound ?? 0 };
  } catch (error) {
    if (error instanceof ApiError && /^(Places|Attributes)NotIndexed$/.test(error.code))
      return { hits: [], total: 0 };
    throw error;
  }
}

/** Returns the places of hits, and of the files of each that were photographed somewhere. */
export function spotsOf(hits: readonly Hit[]): Spot[] {
  return hits.flatMap((hit) => {
    const { str_databaseid, str_assetid, str_assetname } = hit._source;
    const asset = {
      databaseId: String(str_databaseid),
      assetId: String(str_assetid),
      name: String(str_assetname ?? str_assetid),
    };
    const spots: Spot[] = [];
    const own =
      linesOf(hit._source.geo_MD_location ?? null)[0]?.[0] ?? metadataPoint(hit._source.metadata);
    if (own) spots.push({ ...asset, ...own });
    for (const { _source: source } of hit.files ?? []) {
      const { fact_latitude, fact_longitude } = (source.AB_ ?? {}) as Record<string, unknown>;
      const taken = positionOf([fact_longitude, fact_latitude].map(Number));
      if (taken)
        spots.push({ ...asset, ...taken, path: assetPath(String(source.str_key), asset.assetId) });
    }
    return spots;
  });
}

/** The first geographic value of any key. */
function metadataPoint(pairs: unknown): Position | null {
  for (const { point } of Array.isArray(pairs) ? (pairs as { point?: unknown }[]) : []) {
    const { lat, lon } = (point ?? {}) as { lat?: unknown; lon?: unknown };
    const place = positionOf([lon, lat]);
    if (place) return place;
  }
  return null;
}

/** The least width of a map. */
const LEAST = 2;

/** Returns the view that shows all spots with something around them. */
export function fitView(spots: readonly Spot[]): MapView {
  if (!spots.length) return WHOLE;
  const [lons, lats] = [spots.map(({ lon }) => lon), spots.map(({ lat }) => lat)];
  const [west, east] = [Math.min(...lons), Math.max(...lons)];
  const [south, north] = [Math.min(...lats), Math.max(...lats)];
  const width = Math.max(30, 1.3 * (east - west), 2.6 * (north - south));
  return within({ lon: (west + east) / 2, lat: (south + north) / 2, width });
}

/** Returns the view nearer by `factor`, or farther away below 1. */
export const zoomView = (view: MapView, factor: number): MapView =>
  within({ ...view, width: view.width / factor });

/** Returns the nearest view inside of the map. */
export function within({ lon, lat, width: wanted }: MapView): MapView {
  const width = Math.min(360, Math.max(LEAST, wanted));
  const [across, up] = [180 - width / 2, 90 - width / 4];
  return {
    lon: Math.min(across, Math.max(-across, lon)),
    lat: Math.min(up, Math.max(-up, lat)),
    width,
  };
}

/** Spots that a map would show one above the other. */
export interface Group extends Position {
  spots: Spot[];
}

/** Returns the spots of a view in groups, each around its first spot. */
export function groupSpots(spots: readonly Spot[], { lon, lat, width }: MapView): Group[] {
  const near = width / 25;
  const groups: Group[] = [];
  for (const spot of spots) {
    if (Math.abs(spot.lon - lon) > width / 2 || Math.abs(spot.lat - lat) > width / 4) continue;
    const group = groups.find(
      (other) => Math.hypot(spot.lon - other.lon, spot.lat - other.lat) < near,
    );
    if (group) group.spots.push(spot);
    else groups.push({ lon: spot.lon, lat: spot.lat, spots: [spot] });
  }
  return groups;
}
