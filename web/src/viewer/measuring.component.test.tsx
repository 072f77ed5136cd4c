// Measuring on a model, by a pointer and by keys.
import { act, fireEvent, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { BoxGeometry, Group, Mesh, PerspectiveCamera, Vector3 } from 'three';
import { expect, test, vi } from 'vitest';
import { button, expectAccessible } from '../testing/page';
import { MeasurePanel } from './MeasurePanel';
import { modelUnits } from './modelUnits';
import { aimAt, project, type Pixel } from './projection';
import type { ShownModel } from './scene';

/** A box of 100 × 20 × 40 mm, as its GLB has it: in metres, with its z axis upwards as y. */
function openPanel() {
  const root = new Group().add(new Mesh(new BoxGeometry(0.1, 0.04, 0.02)));
  const camera = new PerspectiveCamera(35, 4 / 3, 0.001, 10);
  camera.position.set(0.1, 0.2, 0.3);
  camera.lookAt(0, 0, 0);
  const host = document.body.appendChild(document.createElement('div'));
  const canvas = host.appendChild(document.createElement('canvas'));
  const size = { clientWidth: 800, clientHeight: 600 };
  for (const element of [host, canvas])
    for (const [name, value] of Object.entries(size))
      Object.defineProperty(element, name, { value });
  const scene = {
    host,
    camera,
    controls: { target: new Vector3(), update: vi.fn() },
    renderer: { domElement: canvas },
    size: 0.1,
    plane: null,
    onDraw: () => () => undefined,
    project: (place: Vector3) => project(place, camera, size),
    aim: (pixel: Pixel) => aimAt(pixel, camera, size),
  };
  const facts = new Map([
    ['unit', 'millimeter'],
    ['metresPerUnit', '0.001'],
    ['upAxis', 'z'],
  ]);
  const shown = { scene, derived: true, loaded: { scene: root } } as unknown as ShownModel;
  const { unmount } = render(<MeasurePanel shown={shown} units={modelUnits(shown, facts)} />);
  const click = (x: number, y: number, z: number) => {
    const pixel = scene.project(new Vector3(x, y, z));
    const at = { clientX: (pixel?.x ?? 0) + 2, clientY: pixel?.y ?? 0, button: 0 };
    fireEvent.pointerDown(canvas, at);
    fireEvent.pointerUp(canvas, at);
  };
  const close = () => {
    unmount();
    host.remove();
  };
  return { canvas, camera, click, close };
}

const status = () => screen.getAllByRole('status')[0]?.textContent.replaceAll('\u00a0', ' ');

test('the distance of two corners is measured in the unit and along the axes of the file', async () => {
  const { canvas, click, close } = openPanel();
  click(-0.05, 0.02, 0.01);
  expect(status()).toBe('Point 1: corner');
  // A drag turns the model.
  fireEvent.pointerDown(canvas, { clientX: 100, clientY: 100 });
  fireEvent.pointerUp(canvas, { clientX: 300, clientY: 100 });
  click(0.05, 0.02, 0.01);
  expect(status()).toBe('Distance 100 mm, along x 100 mm, y 0 mm, z 0 mm');
  await expectAccessible();
  const user = userEvent.setup();
  await user.click(await button('Clear'));
  click(0.05, -0.02, 0.01);
  click(0.05, 0.02, 0.01);
  expect(status()).toBe('Distance 40 mm, along x 0 mm, y 0 mm, z 40 mm');
  await user.selectOptions(screen.getByLabelText('What is measured'), 'Angle');
  click(-0.05, 0.02, 0.01);
  click(0.05, 0.02, 0.01);
  click(0.05, 0.02, -0.01);
  expect(status()).toBe('Angle 90°');
  close();
});

test('keys move a cross, set points, turn the model and clear', () => {
  const { canvas, camera, close } = openPanel();
  const press = (key: string, shiftKey = false) => fireEvent.keyDown(canvas, { key, shiftKey });
  press('Enter');
  expect(status()).toBe('Point 1: surface');
  for (let step = 0; step < 3; step++) press('ArrowRight');
  expect(screen.getByText('Under the cross: surface')).toBeDefined();
  press('Enter');
  expect(status()).toMatch(/^Distance [\d.]+ mm/);
  for (let step = 0; step < 60; step++) press('ArrowUp');
  expect(screen.getByText('Under the cross: nothing')).toBeDefined();
  const before = camera.position.clone();
  act(() => void press('ArrowLeft', true));
  expect(camera.position.distanceTo(before)).toBeGreaterThan(0.01);
  press('Escape');
  expect(status()).toBe('Click two places.');
  close();
});
