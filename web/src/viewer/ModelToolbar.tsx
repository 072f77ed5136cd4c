import { useQuery } from '@tanstack/react-query';
import { Suspense, useId, useState } from 'react';
import { errorText } from '../api/errors';
import { factsQuery } from '../api/fileFacts';
import { viewerTexts } from '../texts/viewer';
import { formatNumber } from '../texts/formats';
import { unitSymbol } from '../ui/units';
import { ErrorBoundary } from '../ui/ErrorBoundary';
import { lazyComponent } from '../ui/lazyComponent';
import { AXES, modelUnits, type ModelUnits } from './modelUnits';
import type { ShownModel } from './scene';
import { listParts } from './parts';
import { PartsPanel } from './PartsPanel';
import { SectionTool } from './SectionTool';
import type { Place } from '../api/downloads';
import type { StageFile } from './Poster';
import { MaterialsPanel } from './MaterialsPanel';
import { PointsTool } from './PointsTool';
import { hasSurfaces } from './unlit';
import { ViewButtons } from './ViewButtons';

const MeasurePanel = lazyComponent(() => import('./MeasurePanel'), 'MeasurePanel');

/** What can be done with the model that is shown. */
export function ModelToolbar(props: { shown: ShownModel; place: Place; file: StageFile }) {
  const { scene, loaded } = props.shown;
  const facts = useQuery(factsQuery(props.place, props.file.path)).data;
  const units = modelUnits(props.shown, facts);
  const [solid] = useState(() => hasSurfaces(loaded.scene));
  const [wire, setWire] = useState(false);
  const [normals, setNormals] = useState(false);
  const [box, setBox] = useState(false);
  const [cut, setCut] = useState(scene.plane !== null);
  const [hasParts] = useState(() => !loaded.stream && listParts(loaded.scene).length > 1);
  const [parts, setParts] = useState(false);
  const [measuring, setMeasuring] = useState(false);
  const hasPoints = !scene.points.isEmpty;
  // Splats have no places to measure, and their shaders no planes.
  const isSolid = !loaded.stream || hasPoints;
  const [points, setPoints] = useState(false);
  const [materials, setMaterials] = useState(false);
  const toggle = (
    name: string,
    on: boolean,
    set: (on: boolean) => void,
    act?: (on: boolean) => void,
  ) => (
    <button
      type="button"
      aria-pressed={on}
      onClick={() => {
        set(!on);
        act?.(!on);
      }}
    >
      {name}
    </button>
  );
  return (
    <>
      {box && <Measures shown={props.shown} units={units} />}
      <div className="sheets">
        <div className="panels">
          {measuring && <Measuring shown={props.shown} units={units} />}
          {materials && <MaterialsPanel root={loaded.scene} />}
          {points && <PointsTool looks={scene.points} draw={scene.draw} />}
        </div>
        {parts && (
          <PartsPanel
            root={loaded.scene}
            onChange={scene.drawParts}
            loadStructure={loaded.loadStructure}
          />
        )}
      </div>
      <div className="tools" role="toolbar" aria-label={viewerTexts.toolbar}>
        <button type="button" onClick={scene.fit} aria-keyshortcuts="f">
          {viewerTexts.fit}
        </button>
        {solid && toggle(viewerTexts.wireframe, wire, setWire, (on) => scene.wireframe(on))}
        {solid && toggle(viewerTexts.normals, normals, setNormals, (on) => scene.showNormals(on))}
        {toggle(viewerTexts.box, box, setBox, (on) => scene.showBox(on))}
        {isSolid && toggle(viewerTexts.measure, measuring, setMeasuring)}
        {isSolid && toggle(viewerTexts.section, cut, setCut)}
        {cut && <SectionTool scene={scene} units={units} />}
        {solid && toggle(viewerTexts.materials, materials, setMaterials)}
        {hasPoints && toggle(viewerTexts.points, points, setPoints)}
        {hasParts && toggle(viewerTexts.parts, parts, setParts)}
        {loaded.animations.length > 0 && <Animations shown={props.shown} />}
        <ViewButtons {...props} />
      </div>
    </>
  );
}

function Measuring(props: { shown: ShownModel; units: ModelUnits }) {
  return (
    <ErrorBoundary
      fallback={(error) => (
        <p className="panel" role="status">
          {errorText(error)}
        </p>
      )}
    >
      <Suspense>
        <MeasurePanel {...props} />
      </Suspense>
    </ErrorBoundary>
  );
}

/** The extent along each axis of the file, in its unit. */
function Measures({ shown, units }: { shown: ShownModel; units: ModelUnits }) {
  return (
    <p className="measures">
      {AXES.map((axis) => (
        <span key={axis}>
          {axis}{' '}
          {formatNumber((shown.extent[AXES.indexOf(units.toDrawnAxis(axis))] ?? 0) / units.perUnit)}{' '}
          {unitSymbol(units.name)}
        </span>
      ))}
    </p>
  );
}

function Animations({ shown }: { shown: ShownModel }) {
  const id = useId();
  const [playing, setPlaying] = useState(false);
  const [clip, setClip] = useState(0);
  const { scene, loaded } = shown;
  const play = (index: number, on: boolean) => {
    setClip(index);
    setPlaying(on);
    scene.play(loaded, index, on);
  };
  return (
    <span className="pair">
      <button type="button" aria-pressed={playing} onClick={() => play(clip, !playing)}>
        {playing ? viewerTexts.pause : viewerTexts.play}
      </button>
      {loaded.animations.length > 1 && (
        <>
          <label htmlFor={id} className="hidden">
            {viewerTexts.animation}
          </label>
          <select
            id={id}
            value={clip}
            onChange={(event) => play(Number(event.target.value), playing)}
          >
            {loaded.animations.map((animation, at) => (
              <option key={at} value={at}>
                {animation.name || at + 1}
              </option>
            ))}
          </select>
        </>
      )}
    </span>
  );
}
