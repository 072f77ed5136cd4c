import { useEffect, useId, useState, type PointerEvent } from 'react';
import { createPortal } from 'react-dom';
import { type Plane, Vector3 } from 'three';
import { viewerTexts } from '../texts/viewer';
import type { Axis } from './axes';
import { AXES, type ModelUnits } from './modelUnits';
import type { Pixel } from './projection';
import type { ModelScene } from './scene';
import { extentAlong, planeOf, sectionOf, type Section } from './sectionPlane';

/** A direction that is none of the axes. */
const FREE = 'free';

const axisVector = (axis: Axis): Vector3 => {
  const vector = new Vector3();
  vector[axis] = 1;
  return vector;
};

/** Cuts the model by a plane that is moved by its grip, or by a slider. */
export function SectionTool({ scene, units }: { scene: ModelScene; units: ModelUnits }) {
  const id = useId();
  const [section, setSection] = useState<Section>(() =>
    scene.plane
      ? sectionOf(scene.box, scene.plane)
      : { direction: axisVector(units.toDrawnAxis('x')), fraction: 0.5, isFlipped: false },
  );
  useEffect(() => scene.section(planeOf(scene.box, section)), [scene, section]);
  useEffect(() => () => scene.section(null), [scene]);
  const axis = AXES.find(
    (name) => Math.abs(section.direction.dot(axisVector(units.toDrawnAxis(name)))) > 0.9999,
  );
  const change = (changes: Partial<Section>) => setSection({ ...section, ...changes });
  const turn = (name: string) => {
    const chosen = AXES.find((axis) => axis === name);
    const direction = chosen
      ? axisVector(units.toDrawnAxis(chosen))
      : scene.camera.getWorldDirection(new Vector3()).negate();
    setSection({ direction, fraction: 0.5, isFlipped: false });
  };
  return (
    <>
      <span className="pair section">
        <label htmlFor={`${id}-axis`} className="hidden">
          {viewerTexts.sectionAxis}
        </label>
        <select
          id={`${id}-axis`}
          value={axis ?? FREE}
          onChange={(event) => turn(event.target.value)}
        >
          {AXES.map((name) => (
            <option key={name}>{name}</option>
          ))}
          <option value={FREE}>{viewerTexts.sectionFacing}</option>
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
          value={section.fraction}
          onChange={(event) => change({ fraction: Number(event.target.value) })}
        />
        <button
          type="button"
          className="small"
          aria-pressed={section.isFlipped}
          onClick={() => change({ isFlipped: !section.isFlipped })}
        >
          {viewerTexts.sectionFlip}
        </button>
      </span>
      {createPortal(
        <Grip scene={scene} section={section} onMove={(fraction) => change({ fraction })} />,
        scene.host,
      )}
    </>
  );
}

interface GripProps {
  scene: ModelScene;
  section: Section;
  onMove: (fraction: number) => void;
}

/** The grip of the plane, in the middle of it; the slider moves it by keys. */
function Grip({ scene, section, onMove }: GripProps) {
  const [, setDrawings] = useState(0);
  const [held, setHeld] = useState<{ pixel: Pixel; fraction: number } | null>(null);
  useEffect(() => scene.onDraw(() => setDrawings((drawings) => drawings + 1)), [scene]);
  const [low, high] = extentAlong(scene.box, section.direction);
  const along = (plane: Plane, length: number) => {
    const middle = plane.projectPoint(scene.box.getCenter(new Vector3()), new Vector3());
    return scene.project(middle.addScaledVector(section.direction, length));
  };
  const plane = planeOf(scene.box, section);
  const step = scene.size / 20;
  const [at, further] = [along(plane, 0), along(plane, step)];
  if (!at || !further) return null;
  const way = { x: further.x - at.x, y: further.y - at.y };
  const length = Math.hypot(way.x, way.y);
  const move = (event: PointerEvent) => {
    if (!held || high <= low) return;
    const moved = { x: event.clientX - held.pixel.x, y: event.clientY - held.pixel.y };
    // Seen along its direction, a plane that is moved up comes nearer.
    const pixels = length < 4 ? -moved.y : (moved.x * way.x + moved.y * way.y) / length;
    const fraction = held.fraction + ((pixels / Math.max(length, 4)) * step) / (high - low);
    onMove(Math.min(Math.max(fraction, 0), 1));
  };
  return (
    <span
      className="grip"
      aria-hidden="true"
      data-held={held !== null}
      style={{
        transform: `translate(${at.x}px, ${at.y}px) rotate(${Math.atan2(way.y, way.x)}rad)`,
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        setHeld({ pixel: { x: event.clientX, y: event.clientY }, fraction: section.fraction });
      }}
      onPointerMove={move}
      onPointerUp={() => setHeld(null)}
      onPointerCancel={() => setHeld(null)}
    >
      <svg viewBox="0 0 24 24">
        <path d="M3 12H21M8 7l-5 5 5 5M16 7l5 5-5 5" />
      </svg>
    </span>
  );
}
