import { Box3, Frustum, Matrix4, PerspectiveCamera, Vector3 } from 'three';
import { expect, test } from 'vitest';
import { chooseNodes, cubeOf, type Sight, type Tree } from './copcTree';

const cube = new Box3(new Vector3(-50, -50, -50), new Vector3(50, 50, 50));

function sightFrom(z: number): Sight {
  const camera = new PerspectiveCamera(35, 1, 0.1, 10_000);
  camera.position.z = z;
  camera.updateMatrixWorld();
  const matrix = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  const slope = (2 * Math.tan((35 * Math.PI) / 360)) / 800;
  return { frustum: new Frustum().setFromProjectionMatrix(matrix), eye: camera.position, slope };
}

const tree = (counts: [string, number][], pages: string[] = []): Tree => ({
  cube,
  spacing: 2,
  counts: new Map(counts),
  pages: new Set(pages),
});

test('a node has a part of the cube, whose up axis is z in the file and y in the scene', () => {
  const { min, max } = cubeOf('1-1-0-1', cube);
  expect(min.toArray()).toEqual([0, 0, 0]);
  expect(max.toArray()).toEqual([50, 50, 50]);
});

test.each([
  ['all nodes of a near cloud', 150, 1000, ['0-0-0-0', '1-0-0-0', '1-1-1-1']],
  ['only the first node of a cloud that is far away', 90_000, 1000, ['0-0-0-0']],
  ['no more points than the budget', 150, 250, ['0-0-0-0', '1-0-0-0']],
  ['nothing behind the camera', -150, 1000, ['0-0-0-0']],
])('it chooses %s', (_, z, budget, nodes) => {
  const counts: [string, number][] = [
    ['0-0-0-0', 100],
    ['1-0-0-0', 100],
    ['1-1-1-1', 100],
  ];
  expect(chooseNodes(tree(counts), sightFrom(z), budget).nodes).toEqual(nodes);
});

test('a part of the tree is loaded once it is seen', () => {
  const large = tree([['0-0-0-0', 100]], ['1-0-0-0']);
  expect(chooseNodes(large, sightFrom(150), 1000).pages).toEqual(['1-0-0-0']);
  expect(chooseNodes(large, sightFrom(90_000), 1000).pages).toEqual([]);
});
