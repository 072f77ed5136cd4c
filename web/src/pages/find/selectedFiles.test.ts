import { expect, test } from 'vitest';
import type { Card } from '../../api/hits';
import {
  downloadPlan,
  MOST_FILES,
  runPlan,
  toWorkflow,
  type Listed,
  type Plan,
} from './selectedFiles';
import { toChunks } from './runs';
import { assetFolders } from './zip';

const card = (name: string, databaseId = 'd'): Card => ({
  id: `${databaseId}/${name}`,
  databaseId,
  assetId: `${name}-1`,
  name,
  type: 'glb',
  size: null,
  files: null,
  tags: [],
  changed: '',
  description: '',
  isArchived: false,
  file: null,
  picture: {},
  metadata: {},
  facts: [],
});
const file = (path: string, more: object = {}) => ({
  fileName: path,
  key: path,
  relativePath: path,
  isFolder: false,
  size: 10,
  isArchived: false,
  isPermanentlyDeleted: false,
  ...more,
});
const listed = (name: string, files: Listed['files'], more: Partial<Listed> = {}): Listed => ({
  card: card(name),
  files,
  reason: '',
  distributable: true,
  ...more,
});
const paths = ({ targets }: Plan) => targets.map(({ card: { name }, path }) => name + (path ?? ''));
const reasons = ({ leftOut }: Plan) => leftOut.map(({ name, reason }) => `${name}: ${reason}`);

test('a download names what it leaves out, with the reason', () => {
  const plan = downloadPlan([
    listed('a', [file('/1.glb'), file('/2.glb', { isArchived: true })]),
    listed('b', [file('/3.glb')], { distributable: false }),
    listed('c', [], { reason: 'Not found.' }),
    listed('d', [file('/4.glb', { isQuarantined: true }), file('/5.las', { size: 2e9 })]),
    listed('e', [file('/6.glb')]),
  ]);
  expect(paths(plan)).toEqual(['a/1.glb', 'e/6.glb']);
  expect(reasons(plan)).toEqual([
    'a/2.glb: Archived',
    'b: Download not allowed',
    'c: Not found.',
    'd/4.glb: In quarantine',
    'd/5.las: Over the limit of 1 GB',
  ]);
});

test('a download and a run end at their limit', () => {
  const files = Array.from({ length: MOST_FILES + 1 }, (_, at) => file(`/${at}`));
  const plan = downloadPlan([listed('a', files)]);
  expect([plan.targets.length, plan.leftOut.length]).toEqual([MOST_FILES, 1]);
  const assets = files.map((_, at) => listed(String(at), []));
  const whole = runPlan(assets, workflow('GLOBAL', ''), true);
  expect([whole.targets.length, whole.leftOut.length]).toEqual([MOST_FILES, 1]);
});

test('the files of a download have at most a gigabyte together', () => {
  const files = [file('/1', { size: 6e8 }), file('/2', { size: 6e8 }), file('/3', { size: 4e8 })];
  expect(paths(downloadPlan([listed('a', files)]))).toEqual(['a/1', 'a/3']);
});

const workflow = (databaseId: string, extensions: string) =>
  toWorkflow({
    workflowId: 'w',
    databaseId,
    description: '',
    specifiedPipelines: { functions: [] },
    autoTriggerOnFileExtensionsUpload: extensions,
    dateCreated: '',
    dateModified: '',
  });

test('a workflow runs on the files of its types, in its database', () => {
  const assets = [
    listed('a', [file('/1.GLB'), file('/2.txt')]),
    listed('b', [file('/3.glb')], { card: card('b', 'other') }),
  ];
  expect(paths(runPlan(assets, workflow('GLOBAL', '.glb,.obj'), false))).toEqual([
    'a/1.GLB',
    'b/3.glb',
  ]);
  expect(paths(runPlan(assets, workflow('GLOBAL', '.all'), false))).toHaveLength(3);
  const own = runPlan(assets, workflow('d', ''), true);
  expect([paths(own), reasons(own)]).toEqual([
    ['a'],
    ['b: The workflow is only for the database d.'],
  ]);
});

test('a request to run names at most fifty files, of one asset', () => {
  const target = (name: string, path: number) => ({ card: card(name), path: `/${path}`, size: 0 });
  const targets = [...Array.from({ length: 120 }, (_, at) => target('a', at)), target('b', 0)];
  expect(toChunks(targets).map((chunk) => chunk.length)).toEqual([50, 50, 20, 1]);
});

test('folders of a ZIP file have names that any system accepts, each once', () => {
  const names = ['a', 'A', '../x', 'c:*', '..'];
  const targets = names.map((name, at) => ({
    card: { ...card(name), id: String(at), assetId: 'an-id' },
    path: '/f',
    size: 0,
  }));
  expect([...assetFolders(targets).values()]).toEqual(['a', 'A (2)', '_x', 'c__', 'an-id']);
});
