import { Box3, type Mesh, MeshStandardMaterial, Vector3 } from 'three';
import { differencesOf, type Differences } from './differences';
import type { ModelScene } from './scene';

/** The place of a scene among those that are seen together. */
export interface Seat {
  /** Adds a scene that shows a model; the function that is returned removes it. */
  add: (scene: ModelScene) => () => void;
}

/** How many parts of two models differ. */
export type Counts = Record<keyof Differences, number>;

const COLORS: Record<keyof Differences, number> = {
  removed: 0xd23f3f,
  added: 0x2f9e55,
  changed: 0xd9a521,
};

/**
 * Lets two scenes show their models by one camera: as large as they are to each other, and the
 * middle of each at the same place, or both in the places that their files give them.
 */
export class CameraBond {
  readonly seats: readonly [Seat, Seat] = [this.seatAt(0), this.seatAt(1)];
  private readonly scenes: (ModelScene | null)[] = [null, null];
  private readonly listeners = new Set<() => void>();
  private readonly materials: [keyof Differences, MeshStandardMaterial][] = Object.entries(
    COLORS,
  ).map(([kind, color]) => [kind as keyof Differences, new MeshStandardMaterial({ color })]);
  private isFollowing = false;
  private counts: Counts | null = null;

  constructor(private readonly isInPlace: boolean) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Null until both models are shown. */
  readonly differences = (): Counts | null => this.counts;

  /** Gives parts that differ colours of their own, or not. */
  showDifferences(on: boolean): void {
    const colored = new Map<Mesh, MeshStandardMaterial>();
    const differences = on ? this.compare() : null;
    for (const [kind, material] of this.materials)
      for (const mesh of differences?.[kind] ?? []) colored.set(mesh, material);
    for (const scene of this.shown()) scene.cover((mesh) => colored.get(mesh));
  }

  private seatAt(at: number): Seat {
    const add = (scene: ModelScene) => {
      const follow = () => this.follow(scene);
      this.scenes[at] = scene;
      scene.controls.addEventListener('change', follow);
      this.frame();
      this.count();
      return () => {
        scene.controls.removeEventListener('change', follow);
        this.scenes[at] = null;
        this.materials.forEach(([, material]) => material.dispose());
        this.count();
      };
    };
    return { add };
  }

  private readonly shown = (): ModelScene[] => this.scenes.filter((scene) => scene !== null);

  private compare(): Differences | null {
    const [before, after] = this.scenes.map((scene) => scene?.model);
    return before && after ? differencesOf(before, after) : null;
  }

  private count(): void {
    const differences = this.compare();
    this.counts = differences && {
      removed: differences.removed.length,
      added: differences.added.length,
      changed: differences.changed.length / 2,
    };
    for (const listener of this.listeners) listener();
  }

  /** Shows all of the largest model. */
  private frame(): void {
    const size = new Vector3();
    const whole = new Box3();
    for (const { box } of this.shown()) {
      size.max(box.getSize(new Vector3()));
      whole.union(box);
    }
    for (const scene of this.shown()) {
      scene.framed = this.isInPlace
        ? whole
        : new Box3().setFromCenterAndSize(scene.box.getCenter(new Vector3()), size);
    }
    this.shown()[0]?.fit();
  }

  private follow(leader: ModelScene): void {
    if (this.isFollowing) return;
    this.isFollowing = true;
    for (const scene of this.shown()) {
      if (scene === leader) continue;
      const offset = this.middleOf(scene).sub(this.middleOf(leader));
      scene.camera.position.copy(leader.camera.position).add(offset);
      scene.controls.target.copy(leader.controls.target).add(offset);
      scene.camera.near = leader.camera.near;
      scene.camera.far = leader.camera.far;
      scene.camera.updateProjectionMatrix();
      scene.controls.update();
      scene.draw();
    }
    this.isFollowing = false;
  }

  private middleOf({ box }: ModelScene): Vector3 {
    return this.isInPlace || box.isEmpty() ? new Vector3() : box.getCenter(new Vector3());
  }
}
