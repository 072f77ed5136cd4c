import { expect, test } from 'vitest';
import { fileAt } from '../../testing/server';
import { firstFile } from './tree';

test.each([
  ['/plan.ifc', '/a.txt', '/b.png', '/plan.ifc'],
  ['/scan.pcd', '/a.xml', '/scan.pcd'],
  ['/cloth.spz', '/b.png', '/cloth.spz'],
  ['/b.glb', '/a.obj', '/b.glb'],
  ['/b.avif', '/a.txt', '/b.avif'],
  ['/a.txt', '/a.txt', '/b.csv'],
])('%s is shown first', (first, ...paths) => {
  expect(firstFile(paths.map((path) => fileAt(path)))?.relativePath).toBe(first);
});
