import { useEffect, useRef, type RefObject } from 'react';
import type { Point } from './zoom';

/** The factor of a step of a wheel, of which one turn has about a hundred. */
const WHEEL = 0.002;
/** That of a pinch on a touchpad, which is sent as the wheel with the Ctrl key. */
const PINCH = 0.01;
/** Of a wheel that counts lines, as that of some browsers does. */
const LINE = 16;

/** Zooms a place by the wheel and by two fingers, about where they are, and moves it by the mouse. */
export function useGestures(
  place: RefObject<HTMLElement | null>,
  zoom: (by: number, at: Point) => void,
  isThere: boolean,
): void {
  const latest = useRef(zoom);
  useEffect(() => {
    latest.current = zoom;
  });
  useEffect(() => {
    const element = place.current;
    if (!element || !isThere) return;
    const ending = new AbortController();
    const options = { passive: false, signal: ending.signal };
    const zoomAt = (by: number, x: number, y: number) => {
      const { left, top } = element.getBoundingClientRect();
      latest.current(by, { x: x - left, y: y - top });
    };
    let before: Fingers | null = null;
    element.addEventListener('touchstart', (event) => (before = fingersOf(event)), options);
    element.addEventListener(
      'touchmove',
      (event) => {
        const now = fingersOf(event);
        if (!now || !before) return;
        event.preventDefault();
        zoomAt(now.spread / before.spread, now.x, now.y);
        before = now;
      },
      options,
    );
    element.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const pixels = event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE);
        const by = Math.exp(-pixels * (event.ctrlKey ? PINCH : WHEEL));
        zoomAt(by, event.clientX, event.clientY);
      },
      options,
    );
    element.addEventListener(
      'pointerdown',
      (event) => {
        // Fingers scroll by themselves, and so do the bars.
        const isPicture = event.target !== element;
        if (event.pointerType !== 'mouse' || event.button !== 0 || !isPicture) return;
        element.setPointerCapture(event.pointerId);
      },
      options,
    );
    element.addEventListener(
      'pointermove',
      (event) => {
        if (!element.hasPointerCapture(event.pointerId)) return;
        element.scrollBy(-event.movementX, -event.movementY);
      },
      options,
    );
    return () => ending.abort();
  }, [place, isThere]);
}

interface Fingers extends Point {
  spread: number;
}

/** Two fingers: how far they are apart, and the middle of them. */
function fingersOf({ touches: [first, other] }: TouchEvent): Fingers | null {
  if (!first || !other) return null;
  const spread = Math.hypot(first.clientX - other.clientX, first.clientY - other.clientY);
  const [x, y] = [(first.clientX + other.clientX) / 2, (first.clientY + other.clientY) / 2];
  return spread ? { spread, x, y } : null;
}
