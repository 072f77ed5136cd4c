import { Plane, Vector3, type Object3D } from 'three';
import { listParts } from './parts';
import type { ModelScene } from './scene';

/** What a person sees of a model: as text, it is a part of an address. */
export interface ViewState {
  position: Vector3;
  target: Vector3;
  plane: Plane | null;
  /** The places of hidden parts in the list of parts, and how many that has. */
  hidden: number[];
  parts: number;
}

const DIGITS = 6;
/** Signs that addresses have as they are: numbers, members, and members of members. */
const [NEXT, MEMBER, TO] = ['_', '~', '-'];

export function encodeView(view: ViewState): string {
  const numbers = (values: readonly number[]) =>
    values.map((value) => String(Number(value.toPrecision(DIGITS))).replace('+', '')).join(NEXT);
  const { position, target, plane, hidden, parts } = view;
  const members = [`c${numbers([...position.toArray(), ...target.toArray()])}`];
  if (plane) members.push(`s${numbers([...plane.normal.toArray(), plane.constant])}`);
  if (hidden.length) members.push(`h${[parts, ...rangesOf(hidden)].join(NEXT)}`);
  return members.join(MEMBER);
}

/** Returns the view that a text describes, or null if it describes none. */
export function decodeView(text: string): ViewState | null {
  const members = new Map(text.split(MEMBER).map((member) => [member[0], member.slice(1)]));
  const numbers = (member: string, count: number): number[] | null => {
    const values = members.get(member)?.split(NEXT).map(Number) ?? [];
    return values.length === count && values.every(Number.isFinite) ? values : null;
  };
  const camera = numbers('c', 6);
  if (!camera) return null;
  const [position, target] = [new Vector3(...camera), new Vector3(...camera.slice(3))];
  if (position.equals(target)) return null;
  let plane: Plane | null = null;
  if (members.has('s')) {
    const section = numbers('s', 4);
    const normal = new Vector3(...(section ?? []));
    if (!section || normal.length() < 0.5) return null;
    plane = new Plane(normal.normalize(), section[3]);
  }
  const [parts, ...ranges] = members.get('h')?.split(NEXT) ?? ['0'];
  const hidden = numbersOf(ranges, Number(parts));
  return hidden && { position, target, plane, hidden, parts: Number(parts) };
}

/** Ascending numbers, of which those that follow each other are one text: `3-5`. */
function rangesOf(numbers: readonly number[]): string[] {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last?.[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}${TO}${to}`));
}

function numbersOf(ranges: readonly string[], limit: number): number[] | null {
  const numbers: number[] = [];
  for (const range of ranges) {
    const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    if (from === undefined || Number(to ?? from) >= limit) return null;
    for (let number = Number(from); number <= Number(to ?? from); number++) numbers.push(number);
    if (numbers.length > limit) return null;
  }
  return numbers;
}

/** The view of a model as it is now. */
export function viewOf(scene: ModelScene, root: Object3D): ViewState {
  const parts = listParts(root);
  return {
    position: scene.camera.position,
    target: scene.controls.target,
    plane: scene.plane,
    hidden: parts.flatMap(({ node }, at) => (node.visible ? [] : [at])),
    parts: parts.length,
  };
}

/** Shows a view; returns whether the model has the parts that it had then. */
export function showView(scene: ModelScene, root: Object3D, view: ViewState): boolean {
  scene.camera.position.copy(view.position);
  scene.controls.target.copy(view.target);
  scene.controls.update();
  scene.section(view.plane);
  if (!view.hidden.length) return true;
  const parts = listParts(root);
  if (parts.length !== view.parts) return false;
  for (const at of view.hidden) {
    const part = parts[at];
    if (part) part.node.visible = false;
  }
  return true;
}
