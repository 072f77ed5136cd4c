import { useQuery } from '@tanstack/react-query';
import { useId, useState, type RefObject } from 'react';
import { factsQuery } from '../api/fileFacts';
import { viewerTexts } from '../texts/viewer';
import { formatNumber } from '../texts/formats';
import { saveFile } from '../ui/saveFile';
import { unitSymbol } from '../ui/units';
import type { ShownModel } from './scene';
import { listParts } from './parts';
import { PartsPanel } from './PartsPanel';
import { drawnAxis, type Axis } from './axes';
import type { Place } from '../api/downloads';
import { hasSurfaces } from './unlit';

const AXES: readonly Axis[] = ['x', 'y', 'z'];

/** What can be done with the model that is shown. */
export function ModelToolbar(props: {
  shown: ShownModel;
  name: string;
  host: RefObject<HTMLElement | null>;
  place: Place;
  path: string;
}) {
  const { scene, loaded } = props.shown;
  const facts = useQuery(factsQuery(props.place, props.path)).data;
  const toDrawnAxis = (axis: Axis) => drawnAxis(axis, props.shown.derived, facts?.get('upAxis'));
  const [solid] = useState(() => hasSurfaces(loaded.scene));
  const [wire, setWire] = useState(false);
  const [normals, setNormals] = useState(false);
  const [box, setBox] = useState(false);
  const [cut, setCut] = useState(false);
  const [hasParts] = useState(() => listParts(loaded.scene).length > 1);
  const [parts, setParts] = useState(false);
  const save = async () => {
    const blob = await scene.picture();
    if (blob) saveFile(blob, `${props.name}.png`);
  };
  const toggle = (
    name: string,
    on: boolean,
    set: (on: boolean) => void,
    act: (on: boolean) => void,
  ) => (
    <button
      type="button"
      aria-pressed={on}
      onClick={() => {
        set(!on);
        act(!on);
      }}
    >
      {name}
    </button>
  );
  return (
    <>
      {box && <Measures shown={props.shown} facts={facts} toDrawnAxis={toDrawnAxis} />}
      {parts && <PartsPanel root={loaded.scene} onChange={scene.draw} />}
      <div className="tools" role="toolbar" aria-label={viewerTexts.toolbar}>
        <button type="button" onClick={scene.fit} aria-keyshortcuts="f">
          {viewerTexts.fit}
        </button>
        {solid && toggle(viewerTexts.wireframe, wire, setWire, (on) => scene.wireframe(on))}
        {solid && toggle(viewerTexts.normals, normals, setNormals, (on) => scene.showNormals(on))}
        {toggle(viewerTexts.box, box, setBox, (on) => scene.showBox(on))}
        {toggle(viewerTexts.section, cut, setCut, (on) =>
          scene.section(on ? toDrawnAxis('x') : null, 0.5),
        )}
        {cut && <Section shown={props.shown} toDrawnAxis={toDrawnAxis} />}
        {hasParts && toggle(viewerTexts.parts, parts, setParts, () => undefined)}
        {loaded.animations.length > 0 && <Animations shown={props.shown} />}
        <button type="button" onClick={() => void save()}>
          {viewerTexts.screenshot}
        </button>
        {document.fullscreenEnabled && (
          <button
            type="button"
            onClick={() =>
              void (document.fullscreenElement
                ? document.exitFullscreen()
                : props.host.current?.closest('.stage')?.requestFullscreen())
            }
          >
            {viewerTexts.fullScreen}
          </button>
        )}
      </div>
    </>
  );
}

interface SectionProps {
  shown: ShownModel;
  toDrawnAxis: (axis: Axis) => Axis;
}

/** The extent along each axis of the file, in its unit. */
function Measures(props: SectionProps & { facts: ReadonlyMap<string, string> | undefined }) {
  const { shown, facts, toDrawnAxis } = props;
  // A GLB is in metres: that of a file in millimetres is a thousand times smaller.
  const metres = Number(facts?.get('metresPerUnit') ?? 1) || 1;
  const unit = facts?.get('unit') ?? (shown.derived ? undefined : 'metre');
  return (
    <p className="measures">
      {AXES.map((axis) => (
        <span key={axis}>
          {axis} {formatNumber((shown.extent[AXES.indexOf(toDrawnAxis(axis))] ?? 0) / metres)}{' '}
          {unitSymbol(unit)}
        </span>
      ))}
    </p>
  );
}

function Section({ shown, toDrawnAxis }: SectionProps) {
  const id = useId();
  const [axis, setAxis] = useState<Axis>('x');
  const [fraction, setPart] = useState(0.5);
  return (
    <span className="pair section">
      <label htmlFor={`${id}-axis`} className="hidden">
        {viewerTexts.sectionAxis}
      </label>
      <select
        id={`${id}-axis`}
        value={axis}
        onChange={(event) => {
          const next = event.target.value as Axis;
          setAxis(next);
          shown.scene.section(toDrawnAxis(next), fraction);
        }}
      >
        {AXES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <label htmlFor={`${id}-at`} className="hidden">
        {viewerTexts.sectionAt}
      </label>
      <input
        id={`${id}-at`}
        type="range"
        min={0}
        max={1}
        step={0.01}
        value={fraction}
        onChange={(event) => {
          const next = Number(event.target.value);
          setPart(next);
          shown.scene.section(toDrawnAxis(axis), next);
        }}
      />
    </span>
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
