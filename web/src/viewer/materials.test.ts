import { Group, Mesh, MeshStandardMaterial, Texture } from 'three';
import { expect, test } from 'vitest';
import { listMaterials } from './materials';

test('each material is listed once, with its colour and textures', () => {
  const map = new Texture(Object.assign({}, { width: 512, height: 256 }) as never);
  const brass = new MeshStandardMaterial({ name: 'brass <b>', color: 0xd9822b, map });
  brass.envMap = new Texture();
  const plain = new MeshStandardMaterial();
  const [wheel, axle, plate] = [brass, brass, plain].map(
    (material) => new Mesh(undefined, material),
  );
  const root = new Group().add(wheel as Mesh, axle as Mesh, plate as Mesh);
  expect(listMaterials(root)).toEqual([
    {
      material: brass,
      name: 'brass <b>',
      color: '#d9822b',
      textures: [{ name: 'map', width: 512, height: 256 }],
    },
    { material: plain, name: '', color: '#ffffff', textures: [] },
  ]);
});
