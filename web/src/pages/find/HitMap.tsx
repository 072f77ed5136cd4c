import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef, useState, type PointerEvent } from 'react';
import { texts } from '../../texts';
import { visibleName } from '../../texts/formats';
import { mapTexts } from '../../texts/map';
import { WHOLE, type MapView } from '../../ui/earth';
import { EarthMap } from '../../ui/EarthMap';
import { ErrorNotice } from '../../ui/ErrorNotice';
import { PictureLinks } from '../asset/PictureLinks';
import type { FindState } from './findState';
import {
  fitView,
  groupSpots,
  MOST_HITS,
  placesQuery,
  within,
  zoomView,
  type Group,
  type Places,
} from './places';
import './map.css';

/** The hits of a search that have places, on a map. */
export function HitMap({ state }: { state: FindState }) {
  const query = useQuery(placesQuery(state));
  if (query.isError && !query.data)
    return <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <p className="hint">{texts.loading}</p>;
  if (!query.data.spots.length) return <p className="notice">{mapTexts.none}</p>;
  // Another search has other places.
  return <PlacesMap key={JSON.stringify(state)} places={query.data} />;
}

function PlacesMap({ places: { spots, isCut } }: { places: Places }) {
  const [view, setView] = useState(() => fitView(spots));
  const [opened, setOpened] = useState<Group | null>(null);
  const drag = useDrag(view, setView);
  const { lon, lat, width } = view;
  return (
    <section className="map" aria-label={texts.find.map}>
      <div className="acts">
        <p className="faint">
          {mapTexts.places(spots.length)} {isCut && mapTexts.cut(MOST_HITS)}
        </p>
        <button type="button" onClick={() => setView(zoomView(view, 2))}>
          {mapTexts.nearer}
        </button>
        <button type="button" onClick={() => setView(zoomView(view, 0.5))}>
          {mapTexts.farther}
        </button>
        <button type="button" onClick={() => setView(WHOLE)}>
          {mapTexts.whole}
        </button>
      </div>
      <div className="canvas" {...drag}>
        <EarthMap view={view} />
        <ul>
          {groupSpots(spots, view).map((group) => (
            <li
              key={`${group.lon} ${group.lat}`}
              style={{
                left: `${50 + (100 * (group.lon - lon)) / width}%`,
                top: `${50 - (200 * (group.lat - lat)) / width}%`,
              }}
            >
              <Spots
                group={group}
                isOpen={opened?.lon === group.lon && opened.lat === group.lat}
                onOpen={() => {
                  setOpened(group);
                  // Zooming in leads there.
                  setView(within({ ...view, lon: group.lon, lat: group.lat }));
                }}
              />
            </li>
          ))}
        </ul>
      </div>
      <p className="faint">{mapTexts.source}</p>
      {opened && (
        <section aria-label={mapTexts.here(opened.spots.length)} className="stack">
          <h2>{mapTexts.here(opened.spots.length)}</h2>
          <PictureLinks
            items={opened.spots.map((spot) => ({ ...spot, note: spot.path?.slice(1) }))}
          />
        </section>
      )}
    </section>
  );
}

/** A link to the asset of a place, or a button that lists several. */
function Spots(props: { group: Group; isOpen: boolean; onOpen: () => void }) {
  const { spots } = props.group;
  const [first] = spots;
  if (first && spots.length === 1) {
    const { databaseId, assetId, path, name } = first;
    return (
      <Link
        to="/databases/$databaseId/assets/$assetId"
        params={{ databaseId, assetId }}
        search={{ file: path }}
        className="spot"
        aria-label={mapTexts.spot(visibleName(name), path && visibleName(path.slice(1)))}
        title={mapTexts.spot(visibleName(name), path && visibleName(path.slice(1)))}
        preload={false}
        draggable={false}
      />
    );
  }
  return (
    <button
      type="button"
      className="spot"
      aria-label={mapTexts.here(spots.length)}
      aria-expanded={props.isOpen}
      onClick={props.onOpen}
    >
      {spots.length}
    </button>
  );
}

/** Moves a map by dragging it. */
function useDrag(view: MapView, setView: (view: MapView) => void) {
  const from = useRef<{ x: number; y: number; view: MapView } | null>(null);
  return {
    onPointerDown: ({ target, clientX: x, clientY: y }: PointerEvent) => {
      if (target instanceof Element && !target.closest('.spot')) from.current = { x, y, view };
    },
    onPointerMove: ({ currentTarget, clientX, clientY }: PointerEvent) => {
      if (!from.current) return;
      const { x, y, view: start } = from.current;
      const degrees = start.width / currentTarget.clientWidth;
      setView(
        within({
          lon: start.lon - (clientX - x) * degrees,
          lat: start.lat + (clientY - y) * degrees,
          width: start.width,
        }),
      );
    },
    onPointerUp: () => (from.current = null),
    onPointerLeave: () => (from.current = null),
  };
}
