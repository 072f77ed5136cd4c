import { Group, Mesh, Object3D, PerspectiveCamera, Plane, Vector3 } from 'three';
import { expect, test } from 'vitest';
import type { ModelScene } from './scene';
import { decodeView, encodeView, showView, viewOf } from './viewState';

const VIEW = {
  position: new Vector3(1.23456789, -4e-7, 2.5e22),
  target: new Vector3(0, 0, 1),
  plane: new Plane(new Vector3(0, 0, -1), 0.25),
  hidden: [0, 3, 4, 5, 9],
  parts: 12,
};

test('a view is the same after its way through an address', () => {
  const text = encodeView(VIEW);
  expect(text).toBe('c1.23457_-4e-7_2.5e22_0_0_1~s0_0_-1_0.25~h12_0_3-5_9');
  expect(encodeURIComponent(text)).toBe(text);
  const view = decodeView(text);
  expect(view && encodeView(view)).toBe(text);
  expect(decodeView('c1_0_0_0_0_0')).toMatchObject({ plane: null, hidden: [] });
});

test.each([
  '',
  'x',
  'c1_2_3',
  'c1_2_3_1_2_3',
  'cNaN_0_0_0_0_1',
  'c1e999_0_0_0_0_1',
  'c1_0_0_0_0_0~s0_0_0_1',
  'c1_0_0_0_0_0~h2_5',
  'c1_0_0_0_0_0~h9_0-999999999999',
  'c1_0_0_0_0_0~h3_<b>',
])('%j is no view', (text) => expect(decodeView(text)).toBeNull());

test('the view of a model is shown again; hidden parts of another model are not', () => {
  const parts = ['arm', 'base', 'nut'].map((name) => Object.assign(new Mesh(), { name }));
  const root = new Group().add(...parts, new Object3D());
  const scene = {
    camera: new PerspectiveCamera(),
    controls: { target: new Vector3(), update: () => undefined },
    plane: null as Plane | null,
    section(plane: Plane | null) {
      this.plane = plane;
    },
  };
  const shown = scene as unknown as ModelScene;
  const visible = () => parts.map((part) => part.visible);
  expect(showView(shown, root, { ...VIEW, parts: 3, hidden: [0, 2] })).toBe(true);
  expect(visible()).toEqual([false, true, false]);
  expect(viewOf(shown, root)).toMatchObject({ plane: VIEW.plane, hidden: [0, 2], parts: 3 });
  expect(scene.camera.position).toEqual(VIEW.position);
  parts.forEach((part) => (part.visible = true));
  expect(showView(shown, root, VIEW)).toBe(false);
  expect(visible()).toEqual([true, true, true]);
});

test('a link with every other one of 50,000 parts hidden is too long, one with the first half is short', () => {
  const half = Array.from({ length: 25_000 }, (_, at) => at);
  expect(encodeView({ ...VIEW, hidden: half, parts: 50_000 }).length).toBeLessThan(100);
  const others = half.map((at) => at * 2);
  expect(encodeView({ ...VIEW, hidden: others, parts: 50_000 }).length).toBeGreaterThan(2000);
});
