/** In degrees east and north. */
export interface Position {
  lon: number;
  lat: number;
}

/** What a map shows: its middle, and its width in degrees, twice its height. */
export interface MapView extends Position {
  width: number;
}

export const WHOLE: MapView = { lon: 0, lat: 0, width: 360 };
/** A shape of more positions has no map: it would take long to draw. */
const MOST_POSITIONS = 1000;

/** The types of values of metadata that are places on Earth. */
export const GEOGRAPHIC = /^(lla|geopoint|geojson)$/;

/** Returns the position that GeoJSON has as its coordinates; null if it is none on Earth. */
export function positionOf(coordinates: unknown): Position | null {
  const [lon, lat] = Array.isArray(coordinates) ? (coordinates as unknown[]) : [];
  const isPosition =
    typeof lon === 'number' &&
    typeof lat === 'number' &&
    Math.abs(lon) <= 180 &&
    Math.abs(lat) <= 90;
  return isPosition ? { lon, lat } : null;
}

/** Returns the lines of a shape of GeoJSON; each of its points is one. */
export function linesOf(shape: unknown): (Position | null)[][] {
  if (shape === null) return []; // the geometry of a feature without one
  const { type, coordinates, geometry, geometries, features } = shape as Record<string, unknown>;
  if (geometry !== undefined) return linesOf(geometry);
  const parts = geometries ?? features;
  if (Array.isArray(parts)) return parts.flatMap(linesOf);
  const lines = linesIn(coordinates);
  return type === 'MultiPoint' ? lines.flat().map((position) => [position]) : lines;
}

function linesIn(coordinates: unknown): (Position | null)[][] {
  const [first] = Array.isArray(coordinates) ? (coordinates as unknown[]) : [];
  if (!Array.isArray(first)) return [[positionOf(coordinates)]];
  const parts = coordinates as unknown[];
  return Array.isArray(first[0]) ? parts.flatMap(linesIn) : [parts.map(positionOf)];
}

/** Returns the lines of a value of metadata; none if it is no place on Earth. */
export function linesOfValue(value: string, type: string): Position[][] {
  if (!GEOGRAPHIC.test(type)) return [];
  let lines;
  try {
    const shape = JSON.parse(value) as Record<string, unknown>;
    lines = type === 'lla' ? [[positionOf([shape.long, shape.lat])]] : linesOf(shape);
  } catch {
    return []; // not JSON, or nested too deeply
  }
  const positions = lines.flat();
  const isShown = positions.length <= MOST_POSITIONS && !positions.includes(null);
  return isShown ? (lines as Position[][]) : [];
}
