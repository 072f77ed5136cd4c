import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import land from 'world-atlas/land-110m.json';
import type { MapView, Position } from './earth';

const world = land as unknown as Topology<{ land: GeometryCollection }>;

/** A line; one of a single position is a dot. What crosses the date line is at both edges. */
function path(line: readonly Position[]): string {
  let turn = 0;
  const places = line.map(({ lon, lat }, at) => {
    const step = lon - (line[at - 1]?.lon ?? lon);
    if (Math.abs(step) > 180) turn -= 360 * Math.sign(step);
    return { lon: lon + turn, lat };
  });
  const shifts = places.some(({ lon }) => Math.abs(lon) > 180) ? [0, 360, -360] : [0];
  return shifts
    .map((by) => `M${places.map(({ lon, lat }) => `${lon + by} ${-lat}`).join('L')}h0`)
    .join('');
}

/** The coast lines, of Natural Earth, with degrees east and south as coordinates. */
const COAST = feature(world, world.objects.land)
  .features.flatMap(({ geometry }) =>
    geometry.type === 'MultiPolygon' ? geometry.coordinates.flat() : [],
  )
  .map((outline) => path(outline.map(([lon = 0, lat = 0]) => ({ lon, lat }))))
  .join('');

/** The Earth, or a part of it, with lines on it; without a label, only for those who see it. */
export function EarthMap(props: {
  view: MapView;
  label?: string;
  lines?: readonly (readonly Position[])[];
}) {
  const { lon, lat, width } = props.view;
  return (
    <svg
      className="earth"
      viewBox={[lon - width / 2, -lat - width / 4, width, width / 2].join(' ')}
      {...(props.label ? { role: 'img', 'aria-label': props.label } : { 'aria-hidden': true })}
    >
      <path d={COAST} vectorEffect="non-scaling-stroke" />
      {props.lines && (
        <path
          className="places"
          d={props.lines.map(path).join('')}
          vectorEffect="non-scaling-stroke"
        />
      )}
    </svg>
  );
}
