import {
  type Camera,
  DirectionalLight,
  HemisphereLight,
  type Material,
  MeshStandardMaterial,
  PMREMGenerator,
  type Scene,
  type Texture,
  type WebGLRenderer,
} from 'three';
import { RoomEnvironment } from 'three/examples/jsm/environments/RoomEnvironment.js';

// Models are as bright as in their pictures: see backend/processing/render/shading.py.
const LAMP = 1.1;
const SKY = 0.3;
const ROOM = 0.15;
const ROOM_OF_METAL = 0.9;

/** Lights a scene from above and behind the viewer, wherever a model stands and however large. */
export function addLights(scene: Scene, camera: Camera): void {
  const lamp = new DirectionalLight(0xffffff, LAMP);
  lamp.position.set(-0.45, 0.65, 0.75);
  camera.add(lamp, lamp.target);
  scene.add(camera, new HemisphereLight(0xffffff, 0x777777, SKY));
}

/** What metals show: without a room around them they are black. */
export function furnishedRoom(renderer: WebGLRenderer): Texture {
  const generator = new PMREMGenerator(renderer);
  const room = new RoomEnvironment();
  const { texture } = generator.fromScene(room, 0.04);
  room.dispose();
  generator.dispose();
  return texture;
}

/** Metals show only the room; other surfaces have the lamp, too. */
export function placeInRoom(material: Material, room: Texture): void {
  if (!(material instanceof MeshStandardMaterial)) return;
  // A texture says where a surface is metal: mostly it is so in places only.
  const metal = material.metalnessMap ? material.metalness / 3 : material.metalness;
  material.envMap = room;
  material.envMapIntensity = ROOM + (ROOM_OF_METAL - ROOM) * metal;
}
