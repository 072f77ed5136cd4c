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
  Plane,
  Points,
  Scene,
  Texture,
  Timer,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Axis } from './axes';
import { framingDistance } from './framing';
import { addLights, addReflections } from './light';
import type { Loaded } from './parseModel';
import { prepareUnlit } from './unlit';

const TURN = 0.2;
const NEARER = 0.85;
const MOST_PIXELS = 2;

/** A model on the page, with the scene that draws it. */
export interface ShownModel {
  scene: ModelScene;
  loaded: Loaded;
  /** The extent of the model, in its own units. */
  extent: [number, number, number];
  derived: boolean;
}

/** One model on one canvas. Draws only when something changed, and at most once a frame. */
export class ModelScene {
  readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(35, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly resize: ResizeObserver;
  private readonly normals = new MeshNormalMaterial();
  private readonly plane = new Plane(new Vector3(-1, 0, 0), 0);
  private readonly timer = new Timer();
  private readonly originals = new Map<Mesh, Material | Material[]>();
  private box = new Box3();
  private helper: Box3Helper | null = null;
  private model: Object3D | null = null;
  private mixer: AnimationMixer | null = null;
  private frame = 0;
  private isPlaying = false;
  private ended = false;

  constructor(
    private readonly host: HTMLElement,
    label: string,
    private readonly onContext: (lost: boolean) => void,
  ) {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true });
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
    prepareUnlit(loaded.scene);
    const materials = new Set<Material>();
    this.forEachMaterial((material) => materials.add(material));
    addReflections([...materials], this.renderer);
    // Precise: the box around the boxes of turned parts is larger than the model.
    this.box = new Box3().setFromObject(loaded.scene, true);
    if (loaded.animations.length) this.mixer = new AnimationMixer(loaded.scene);
    this.fit();
    return this.box.isEmpty() ? new Vector3() : this.box.getSize(new Vector3());
  }

  fit = (): void => {
    const size = this.box.isEmpty() ? 1 : this.box.getSize(new Vector3()).length() || 1;
    const middle = this.box.isEmpty() ? new Vector3() : this.box.getCenter(new Vector3());
    const direction = new Vector3(0.55, 0.45, 0.8);
    const distance = framingDistance(this.box, direction, this.camera);
    this.controls.target.copy(middle);
    this.camera.near = size / 1000;
    this.camera.far = size * 100;
    this.camera.position.copy(middle).add(direction.setLength(distance || size * 2));
    this.camera.updateProjectionMatrix();
    this.controls.update();
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
    this.model?.traverse((node) => {
      if (!(node instanceof Mesh)) return;
      const mesh = node as Mesh;
      if (on) {
        this.originals.set(mesh, mesh.material);
        mesh.material = this.normals;
      } else mesh.material = this.originals.get(mesh) ?? mesh.material;
    });
    if (!on) this.originals.clear();
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

  /** Cuts the model by a plane at a part of its extent, or not. */
  section(axis: Axis | null, fraction: number): void {
    const normal = axis ?? 'x';
    this.plane.normal.set(0, 0, 0)[normal] = -1;
    const [low, high] = [this.box.min[normal], this.box.max[normal]];
    this.plane.constant = low + (high - low) * fraction;
    this.renderer.clippingPlanes = axis === null ? [] : [this.plane];
    this.draw();
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
    this.render();
    return new Promise((resolve) => this.renderer.domElement.toBlob(resolve, 'image/png'));
  }

  /** Frees the memory of the model and the graphics context. */
  dispose(): void {
    this.ended = true;
    cancelAnimationFrame(this.frame);
    this.resize.disconnect();
    this.controls.dispose();
    this.showNormals(false);
    this.showBox(false);
    this.model?.traverse((node) => {
      if (node instanceof Mesh || node instanceof Points) (node as Mesh).geometry.dispose();
    });
    this.forEachMaterial((material) => {
      for (const value of Object.values(material) as unknown[]) {
        if (value instanceof Texture) value.dispose();
      }
      material.dispose();
    });
    this.normals.dispose();
    const canvas = this.renderer.domElement;
    canvas.removeEventListener('webglcontextlost', this.onLost);
    this.renderer.dispose();
    canvas.remove();
    // Losing a context waits for its drawing, and the whole page with it: where a processor draws,
    // for seconds.
    afterDrawing(this.renderer.getContext(), () => this.renderer.forceContextLoss());
  }

  private render(): void {
    this.renderer.render(this.scene, this.camera);
  }

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
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
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
    const turns: Record<string, [number, number]> = {
      ArrowLeft: [-TURN, 0],
      ArrowRight: [TURN, 0],
      ArrowUp: [0, -TURN],
      ArrowDown: [0, TURN],
    };
    const offset = this.camera.position.clone().sub(this.controls.target);
    const turn = turns[event.key];
    if (turn && event.shiftKey) this.pan(turn, offset.length());
    else if (turn) {
      offset.applyAxisAngle(new Vector3(0, 1, 0), turn[0]);
      const side = new Vector3().crossVectors(this.camera.up, offset).normalize();
      offset.applyAxisAngle(side, turn[1]);
    } else if (event.key === '+' || event.key === '=') offset.multiplyScalar(NEARER);
    else if (event.key === '-') offset.divideScalar(NEARER);
    else if (event.key.toLowerCase() === 'f') return this.fit();
    else return;
    event.preventDefault();
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.draw();
  };

  private pan([x, y]: [number, number], distance: number): void {
    const right = new Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const up = new Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    const step = distance * 0.25;
    this.controls.target.addScaledVector(right, x * step).addScaledVector(up, -y * step);
  }

  private forEachMaterial(act: (material: Material) => void): void {
    this.model?.traverse((node) => {
      if (!(node instanceof Mesh || node instanceof Points)) return;
      const mesh = node as Mesh;
      const own = this.originals.get(mesh) ?? mesh.material;
      (Array.isArray(own) ? own : [own]).forEach(act);
    });
  }
}

/** Calls `then` as soon as the graphics processor has done all that it was given. */
function afterDrawing(context: ReturnType<WebGLRenderer['getContext']>, then: () => void): void {
  const gl = context as WebGL2RenderingContext; // three.js uses no other
  const fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  gl.flush();
  const poll = (): void => {
    const waits = fence && !gl.isContextLost();
    if (waits && gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) setTimeout(poll, 100);
    else then();
  };
  poll();
}
