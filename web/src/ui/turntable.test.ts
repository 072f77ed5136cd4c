import { expect, test } from 'vitest';
import { hasTurntable } from './turntable';

const place = { databaseId: 'd', assetId: 'a' };
const preview = { id: '1', url: '/1.png', expiresAt: '' };

test.each([
  ['/gear.glb', { preview }, true],
  ['/gear.step', { file: { ...place, path: '/gear.step.previewFile.png' } }, true],
  ['/walk.mp4', { preview }, true],
  ['/photo.jpg', { preview }, false],
  ['/birds.mp3', { preview }, false],
  ['/plan.pdf', { preview }, false],
  ['/gear.glb', { previewMissing: { reason: 'quarantined' as const, message: '' } }, false],
  [null, { preview }, false],
  [undefined, { preview }, false],
])('the picture of %s moves only if it is one of a model or film', (path, picture, expected) => {
  expect(hasTurntable({ ...place, path }, picture)).toBe(expected);
});
