import {
  type Camera,
  DirectionalLight,
  HemisphereLight,
  type Material,
  MeshStandardMaterial,
  PMREMGenerator,
  type Scene,
  type WebGLRenderer,
} from 'three';
import { RoomEnvironment } from 'three/examples/jsm/environments/RoomEnvironment.js';

// Models are as bright as in their pictures: see backend/processing/render/shading.py.
const LAMP = 1.6;
const SKY = 0.8;
const ROOM = 0.9;

/** Lights a scene from above and behind the viewer, wherever a model stands and however large. */
export function addLights(scene: Scene, camera: Camera): void {
  const lamp = new DirectionalLight(0xffffff, LAMP);
  lamp.position.set(-0.45, 0.65, 0.75);
  camera.add(lamp, lamp.target);
  scene.add(camera, new HemisphereLight(0xffffff, 0x777777, SKY));
}

/** Metals show what is around them: without a room they are black. */
export function addReflections(materials: Material[], renderer: WebGLRenderer): void {
  const metals = materials.filter((material) => material instanceof MeshStandardMaterial);
  // For other surfaces the lights are enough: a room takes seconds where a processor draws.
  if (metals.every(({ metalness }) => metalness === 0)) return;
  const generator = new PMREMGenerator(renderer);
  const room = new RoomEnvironment();
  const { texture } = generator.fromScene(room, 0.04);
  room.dispose();
  generator.dispose();
  for (const material of metals) {
    // A texture says where a surface is metal: mostly it is so in places only.
    const metal = material.metalnessMap ? material.metalness / 3 : material.metalness;
    material.envMap = texture;
    material.envMapIntensity = ROOM * metal;
  }
}
