/** Zoom of a picture in its place: 1 shows it as large as it is, `fit` all of it. */

export interface Size {
  width: number;
  height: number;
}

/** Two distances from the left and the top. */
export interface Point {
  x: number;
  y: number;
}

/** As large as this, the pixels of a picture are squares that are counted. */
const MOST = 8;

export const fitZoom = (place: Size, picture: Size): number =>
  picture.width && picture.height
    ? Math.min(place.width / picture.width, place.height / picture.height)
    : 1;

/** Small pictures fill their place, and can be shown as small as they are. */
export const minZoom = (fit: number): number => Math.min(fit, 1);
export const maxZoom = (fit: number): number => Math.max(MOST, fit * 4);

export const clampZoom = (zoom: number, fit: number): number =>
  Math.min(maxZoom(fit), Math.max(minZoom(fit), zoom));

/**
 * How far a place is scrolled so that the part of the picture at a point of the place stays there,
 * when the zoom changes. A picture that is smaller than its place is in the middle of it.
 */
export function scrollAfterZoom(
  place: Size,
  picture: Size,
  scrolled: Point,
  at: Point,
  zoom: { from: number; to: number },
): Point {
  const along = (axis: 'x' | 'y', side: 'width' | 'height'): number => {
    const margin = (by: number) => Math.max(0, (place[side] - picture[side] * by) / 2);
    const position = (scrolled[axis] + at[axis] - margin(zoom.from)) / zoom.from;
    return Math.max(0, position * zoom.to + margin(zoom.to) - at[axis]);
  };
  return { x: along('x', 'width'), y: along('y', 'height') };
}
