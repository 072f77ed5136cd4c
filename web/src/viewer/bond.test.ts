import { Box3, BoxGeometry, Group, Mesh, PerspectiveCamera, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { CameraBond } from './bond';
import type { ModelScene } from './scene';

/** A scene of which only camera and controls are there. */
function fakeScene(middle: number, side: number) {
  const listeners = new Set<() => void>();
  const scene = {
    box: new Box3().setFromCenterAndSize(new Vector3(middle, 0, 0), new Vector3(side, side, side)),
    framed: null as Box3 | null,
    model: new Group().add(Object.assign(new Mesh(new BoxGeometry(side)), { name: 'part' })),
    cover: vi.fn(),
    camera: new PerspectiveCamera(),
    controls: {
      target: new Vector3(),
      addEventListener: (_: string, listener: () => void) => listeners.add(listener),
      removeEventListener: (_: string, listener: () => void) => listeners.delete(listener),
      update: () => listeners.forEach((listener) => listener()),
    },
    fits: 0,
    fit() {
      this.fits += 1;
    },
    draw: () => undefined,
  };
  return { ...scene, listeners, real: scene as unknown as ModelScene, scene };
}

test.each([
  [false, 100],
  [true, 0],
])('scenes follow each other, in the places of their files: %s', (isInPlace, offset) => {
  const bond = new CameraBond(isInPlace);
  const [left, right] = [fakeScene(0, 2), fakeScene(100, 6)];
  const counted = vi.fn();
  bond.subscribe(counted);
  bond.seats[0].add(left.real);
  expect(bond.differences()).toBeNull();
  const leave = bond.seats[1].add(right.real);
  expect(bond.differences()).toEqual({ removed: 0, added: 0, changed: 1 });
  const size = left.scene.framed?.getSize(new Vector3());
  expect(size?.x).toBe(isInPlace ? 104 : 6);
  left.camera.position.set(1, 2, 3);
  left.controls.update();
  expect(right.camera.position.toArray()).toEqual([1 + offset, 2, 3]);
  right.camera.position.set(offset, 7, 0);
  right.controls.update();
  expect(left.camera.position.toArray()).toEqual([0, 7, 0]);
  leave();
  expect(counted).toHaveBeenCalledTimes(3);
  expect(right.listeners.size).toBe(0);
});
