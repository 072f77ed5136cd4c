import {
  AnimationMixer,
  Box3,
  Box3Helper,
  Color,
  type Material,
  Mesh,
  MeshNormalMaterial,
  type Object3D,
  PerspectiveCamera,
  type Plane,
  Points,
  Scene,
  Timer,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { afterDrawing } from './afterDrawing';
import { moveByKey } from './cameraKeys';
import { Cap } from './cap';
import { frame } from './framing';
import { Ground } from './ground';
import { addLights, addReflections } from './light';
import { disposeMaterial, materialsOf } from './materials';
import type { Loaded } from './parseModel';
import { PointLooks } from './pointLooks';
import { aimAt, project, type Aim, type Pixel } from './projection';
import { prepareUnlit } from './unlit';

const MOST_PIXELS = 2;

/** A model on the page, with the scene that draws it. */
export interface ShownModel {
  scene: ModelScene;
  loaded: Loaded;
  /** The extent of the model, in its own units. */
  extent: [number, number, number];
  derived: boolean;
  /** What a person should know of the view that a link has. */
  viewMessage?: string | undefined;
}

/** One model on one canvas. Draws only when something changed, and at most once a frame. */
export class ModelScene {
  readonly renderer: WebGLRenderer;
  readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  box = new Box3();
  model: Object3D | null = null;
  /** What fits into the canvas instead of the box, where several models are compared. */
  framed: Box3 | null = null;
  points = new PointLooks(1);
  /** What cuts the model: it is drawn on the side to which the normal points. */
  plane: Plane | null = null;
  readonly scene = new Scene();
  private readonly drawn = new Set<() => void>();
  private readonly resize: ResizeObserver;
  private readonly normals = new MeshNormalMaterial();
  private readonly timer = new Timer();
  private readonly originals = new Map<Mesh, Material | Material[]>();
  private cap: Cap | null = null;
  private ground: Ground | null = null;
  /** Where the camera stands since the model was framed. */
  private readonly framing = new Vector3();
  private helper: Box3Helper | null = null;
  private mixer: AnimationMixer | null = null;
  private endStream: (() => void) | undefined;
  private frame = 0;
  private isPlaying = false;
  private ended = false;

  constructor(
    readonly host: HTMLElement,
    label: string,
    private readonly onContext: (lost: boolean) => void,
  ) {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true, stencil: true });
    const canvas = this.renderer.domElement;
    canvas.tabIndex = 0;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', label);
    canvas.addEventListener('keydown', this.onKey);
    canvas.addEventListener('webglcontextlost', this.onLost);
    canvas.addEventListener('webglcontextrestored', this.onRestored);
    host.append(canvas);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', this.draw);
    addLights(this.scene, this.camera);
    this.resize = new ResizeObserver(this.fitCanvas);
    this.resize.observe(host);
    this.fitCanvas();
  }

  /** Shows a model; its extent is returned, in its own units. */
  show(loaded: Loaded): Vector3 {
    this.model = loaded.scene;
    this.scene.add(loaded.scene);
    const { stream } = loaded;
    this.points = stream?.points ?? prepareUnlit(loaded.scene);
    addReflections([...materialsOf(loaded.scene)], this.renderer);
    // Precise: the box around the boxes of turned parts is larger than the model.
    this.box = stream?.box ?? new Box3().setFromObject(loaded.scene, true);
    if (loaded.animations.length) this.mixer = new AnimationMixer(loaded.scene);
    if (!stream && !this.box.isEmpty()) this.ground = new Ground(this.scene, this.box);
    this.fit();
    this.endStream = stream?.start(this);
    return this.box.isEmpty() ? new Vector3() : this.box.getSize(new Vector3());
  }

  fit = (): void => {
    frame(this.framed ?? this.box, this.camera, this.controls.target);
    this.controls.update();
    this.framing.copy(this.camera.position);
    this.draw();
  };

  wireframe(on: boolean): void {
    this.forEachMaterial((material) => {
      if ('wireframe' in material) material.wireframe = on;
    });
    this.normals.wireframe = on;
    this.draw();
  }

  showNormals(on: boolean): void {
    this.cover(() => (on ? this.normals : undefined));
  }

  /** Gives meshes other materials; those without one have their own again. */
  cover(materialOf: (mesh: Mesh) => Material | undefined): void {
    this.originals.forEach((material, mesh) => (mesh.material = material));
    this.originals.clear();
    this.model?.traverse((node) => {
      if (!(node instanceof Mesh)) return;
      const mesh = node as Mesh;
      const material = materialOf(mesh);
      if (!material) return;
      this.originals.set(mesh, mesh.material);
      mesh.material = material;
    });
    this.draw();
  }

  showBox(on: boolean): void {
    if (this.helper) {
      this.scene.remove(this.helper);
      this.helper.dispose();
      this.helper = null;
    }
    if (on && !this.box.isEmpty()) {
      this.helper = new Box3Helper(this.box, new Color(0x3b82f6));
      this.scene.add(this.helper);
    }
    this.draw();
  }

  /** Cuts the model by a plane, and closes what is cut open; or not. */
  section(plane: Plane | null): void {
    this.plane = plane;
    if (plane && this.model) this.cap ??= new Cap(this.model, this.box);
    this.draw();
  }

  /** The length of the diagonal of the model's box. */
  get size(): number {
    return this.box.isEmpty() ? 1 : this.box.getSize(new Vector3()).length() || 1;
  }

  /** Calls `listener` after each drawing, until the function that it returns is called. */
  readonly onDraw = (listener: () => void): (() => void) => {
    this.drawn.add(listener);
    return () => this.drawn.delete(listener);
  };

  /** Where a place in the scene is on the canvas. */
  project(place: Vector3): Pixel | null {
    return project(place, this.camera, this.host);
  }

  aim(pixel: Pixel): Aim {
    return aimAt(pixel, this.camera, this.host);
  }

  play(loaded: Loaded, index: number, on: boolean): void {
    this.mixer?.stopAllAction();
    const clip = loaded.animations[index];
    this.isPlaying = on && clip !== undefined;
    if (this.isPlaying && clip) this.mixer?.clipAction(clip).play();
    this.timer.reset();
    this.draw();
  }

  /** Returns what is on the canvas as a PNG. */
  picture(): Promise<Blob | null> {
    // In the task of `toBlob`: the browser empties the drawing buffer after each frame.
    this.render(false);
    return new Promise((resolve) => this.renderer.domElement.toBlob(resolve, 'image/png'));
  }

  /** Frees the memory of the model and the graphics context. */
  dispose(): void {
    this.ended = true;
    cancelAnimationFrame(this.frame);
    this.resize.disconnect();
    this.controls.dispose();
    this.drawn.clear();
    this.endStream?.();
    this.cap?.dispose();
    this.showNormals(false);
    this.showBox(false);
    this.ground?.dispose();
    this.model?.traverse((node) => {
      if (node instanceof Mesh || node instanceof Points) (node as Mesh).geometry.dispose();
    });
    this.forEachMaterial(disposeMaterial);
    this.normals.dispose();
    const canvas = this.renderer.domElement;
    canvas.removeEventListener('webglcontextlost', this.onLost);
    this.renderer.dispose();
    canvas.remove();
    // Losing a context waits for its drawing, and the whole page with it: where a processor draws,
    // for seconds.
    afterDrawing(this.renderer.getContext(), () => this.renderer.forceContextLoss());
  }

  private render(withGround = true): void {
    const { renderer, scene, camera } = this;
    // A section would cut its shadow, too.
    this.ground?.show(renderer, withGround && !this.plane);
    if (this.plane && this.cap) this.cap.render(renderer, scene, camera, this.plane);
    else {
      renderer.clippingPlanes = [];
      renderer.render(scene, camera);
    }
    for (const listener of this.drawn) listener();
  }

  /** Draws a model of which other parts are shown. */
  readonly drawParts = (): void => {
    this.ground?.renew();
    this.draw();
  };

  /** Draws in the next frame, however often it is called until then. */
  readonly draw = (): void => {
    if (!this.ended) this.frame ||= requestAnimationFrame(this.drawFrame);
  };

  private readonly drawFrame = (): void => {
    this.frame = 0;
    if (this.isPlaying) {
      this.timer.update();
      this.mixer?.update(this.timer.getDelta());
      this.draw();
    }
    this.render();
  };

  private readonly fitCanvas = (): void => {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, MOST_PIXELS));
    this.renderer.setSize(width, height, false);
    const isFramed = this.model && this.camera.position.equals(this.framing);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (isFramed) this.fit();
    // At once: a new size empties the canvas, which would be seen until the next frame.
    this.render();
  };

  private readonly onLost = (event: Event): void => {
    event.preventDefault(); // only then does the browser restore it
    this.onContext(true);
  };

  private readonly onRestored = (): void => {
    this.onContext(false);
    this.draw();
  };

  private readonly onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.toLowerCase() === 'f') this.fit();
    else if (!moveByKey(event.key, event.shiftKey, this.camera, this.controls.target)) return;
    else this.controls.update();
    event.preventDefault();
    this.draw();
  };

  private forEachMaterial(act: (material: Material) => void): void {
    if (this.model) materialsOf(this.model, this.originals).forEach(act);
  }
}
