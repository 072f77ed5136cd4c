import { useId, useState } from 'react';
import { createPortal } from 'react-dom';
import { viewerTexts } from '../texts/viewer';
import { Marks } from './Marks';
import { placeName, resultOf, type Measure } from './measuring';
import type { ModelUnits } from './modelUnits';
import type { ShownModel } from './scene';
import { useMeasuring } from './useMeasuring';

const MEASURES: readonly Measure[] = ['distance', 'angle'];

/** Measures between places of a model that a person points at. */
export function MeasurePanel({ shown, units }: { shown: ShownModel; units: ModelUnits }) {
  const id = useId();
  const [measure, setMeasure] = useState<Measure>('distance');
  const [centres, setCentres] = useState(false);
  const { points, pointed, clear } = useMeasuring(shown, measure, centres);
  const result = resultOf(measure, points, units);
  const last = points.at(-1);
  const under = pointed.snap ? placeName(pointed.snap, units) : viewerTexts.nothingHere;
  return (
    <>
      {createPortal(
        <Marks
          scene={shown.scene}
          points={points}
          pointed={pointed}
          label={result?.label}
          isAngle={measure === 'angle'}
        />,
        shown.scene.host,
      )}
      <section className="panel" aria-label={viewerTexts.measure}>
        <div className="pair">
          <label htmlFor={id} className="hidden">
            {viewerTexts.measured}
          </label>
          <select
            id={id}
            value={measure}
            onChange={(event) =>
              setMeasure(MEASURES.find((name) => name === event.target.value) ?? 'distance')
            }
          >
            {MEASURES.map((name) => (
              <option key={name} value={name}>
                {viewerTexts.measures[name]}
              </option>
            ))}
          </select>
          <label className="check">
            <input
              type="checkbox"
              checked={centres}
              onChange={(event) => setCentres(event.target.checked)}
            />
            {viewerTexts.centresOfCircles}
          </label>
          <button type="button" className="small" disabled={!points.length} onClick={clear}>
            {viewerTexts.clearMeasure}
          </button>
        </div>
        <p role="status">
          {result
            ? result.details
            : last
              ? viewerTexts.pointSet(points.length, placeName(last, units))
              : viewerTexts.nextPoint[measure]}
        </p>
        <p className="hidden">{viewerTexts.measureKeys}</p>
        <p className="hidden" role="status">
          {pointed.cross && viewerTexts.underCross(under)}
        </p>
      </section>
    </>
  );
}
