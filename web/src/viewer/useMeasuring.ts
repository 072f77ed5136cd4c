import { useEffect, useRef, useState } from 'react';
import { arrowDirection, moveByKey } from './cameraKeys';
import { POINTS_OF, type Measure } from './measuring';
import { Picker } from './picker';
import type { Pixel } from './projection';
import type { ModelScene, ShownModel } from './scene';
import type { Snap } from './snap';

/** A pointer that moves farther than this between its buttons turns the model. */
const STILL = 5;
/** From the centre of a circle whose outline was pointed at. */
const NEAR_CENTRE = 14;
const STEP = 8;

/** What is pointed at. */
export interface Pointed {
  snap: Snap | null;
  /** By the keys: there is no pointer of the browser. */
  cross: Pixel | null;
}

const distanceBetween = (pixel: Pixel, other: Pixel): number =>
  Math.hypot(pixel.x - other.x, pixel.y - other.y);

function pixelOf({ clientX, clientY }: PointerEvent, canvas: HTMLElement): Pixel {
  const { left, top } = canvas.getBoundingClientRect();
  return { x: clientX - left, y: clientY - top };
}

/** Picks places, also the centre of the circle whose outline was pointed at last. */
function pickOf(scene: ModelScene, picker: Picker, isCentred: () => boolean) {
  let circle: Snap['circle'] = null;
  return (pixel: Pixel): Snap | null => {
    const centre = circle && scene.project(circle.centre);
    if (circle && centre && distanceBetween(centre, pixel) < NEAR_CENTRE)
      return { kind: 'centre', place: circle.centre, circle };
    const snap = picker.pick(scene.aim(pixel), scene.plane);
    if (!snap?.circle) return snap;
    circle = snap.circle;
    return isCentred() ? { ...snap, kind: 'centre', place: circle.centre } : snap;
  };
}

/** Sets points on a model by a pointer or by keys on its canvas. */
export function useMeasuring({ scene, loaded }: ShownModel, measure: Measure, centres: boolean) {
  const [points, setPoints] = useState<readonly Snap[]>([]);
  const [pointed, setPointed] = useState<Pointed>({ snap: null, cross: null });
  const [lastMeasure, setLastMeasure] = useState(measure);
  if (lastMeasure !== measure) {
    setLastMeasure(measure);
    setPoints([]);
  }
  const latest = useRef({ measure, centres });
  useEffect(() => {
    latest.current = { measure, centres };
  });
  useEffect(() => {
    const canvas = scene.renderer.domElement;
    const picker = new Picker(loaded.scene, scene.size);
    const ending = new AbortController();
    let cross: Pixel | null = null;
    let pressed: Pixel | null = null;
    let frame = 0;
    const pick = pickOf(scene, picker, () => latest.current.centres);
    const add = (pixel: Pixel) => {
      const snap = pick(pixel);
      if (!snap) return;
      setPoints((before) =>
        before.length < POINTS_OF[latest.current.measure] ? [...before, snap] : [snap],
      );
    };
    const onMove = (event: PointerEvent) => {
      cross = null;
      if (event.buttons || event.pointerType === 'touch') return;
      const pixel = pixelOf(event, canvas);
      cancelAnimationFrame(frame);
      // Of many moves in a frame only the last one counts.
      frame = requestAnimationFrame(() => setPointed({ snap: pick(pixel), cross: null }));
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const arrow = arrowDirection(event.key);
      const middle = { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 };
      if (event.key === 'Escape' && !document.fullscreenElement) setPoints([]);
      else if (event.key === 'Enter' || event.key === ' ') add(cross ?? middle);
      else if (arrow && event.shiftKey) {
        moveByKey(event.key, false, scene.camera, scene.controls.target);
        scene.controls.update();
      } else if (arrow) {
        const { x, y } = cross ?? middle;
        cross = {
          x: Math.min(Math.max(x + arrow[0] * STEP, 0), canvas.clientWidth),
          y: Math.min(Math.max(y + arrow[1] * STEP, 0), canvas.clientHeight),
        };
        setPointed({ snap: pick(cross), cross });
      } else return;
      // The scene turns the model by the same keys.
      event.stopImmediatePropagation();
      event.preventDefault();
    };
    const options = { signal: ending.signal, capture: true };
    canvas.addEventListener('pointermove', onMove, options);
    canvas.addEventListener('pointerleave', () => setPointed({ snap: null, cross: null }), options);
    canvas.addEventListener('pointerdown', (event) => (pressed = pixelOf(event, canvas)), options);
    canvas.addEventListener(
      'pointerup',
      (event) => {
        const pixel = pixelOf(event, canvas);
        if (event.button === 0 && pressed && distanceBetween(pressed, pixel) < STILL) add(pixel);
        pressed = null;
      },
      options,
    );
    canvas.addEventListener('keydown', onKey, options);
    return () => {
      cancelAnimationFrame(frame);
      ending.abort();
      picker.dispose();
    };
  }, [scene, loaded]);
  return { points, pointed, clear: () => setPoints([]) };
}
