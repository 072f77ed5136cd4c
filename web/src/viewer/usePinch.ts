import { useEffect, useRef, type RefObject } from 'react';

/** The factor of a step of the wheel, which a pinch on a touchpad is, with the Ctrl key. */
const STEP = 0.01;

const spreadOf = ({ touches: [one, other] }: TouchEvent): number =>
  one && other ? Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) : 0;

/** Zooms a place by two fingers, where the browser would zoom the page. */
export function usePinch(
  place: RefObject<HTMLElement | null>,
  zoom: (by: number) => void,
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
    let before = 0;
    element.addEventListener('touchstart', (event) => (before = spreadOf(event)), options);
    element.addEventListener(
      'touchmove',
      (event) => {
        const now = spreadOf(event);
        if (!now || !before) return;
        event.preventDefault();
        latest.current(now / before);
        before = now;
      },
      options,
    );
    element.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        latest.current(Math.exp(-event.deltaY * STEP));
      },
      options,
    );
    return () => ending.abort();
  }, [place, isThere]);
}
