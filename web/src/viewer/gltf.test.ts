import { expect, test } from 'vitest';
import { allowedUrl, BASE, BLOCKED, nameOfReference, pathOfReference, referencesOf } from './gltf';

const bytes = (text: string) => new TextEncoder().encode(text).buffer;

test('a reference leads to a file of the asset, or nowhere', () => {
  const cases: [string, string | null][] = [
    ['a.png', '/models/a.png'],
    ['./tex/a.png', '/models/tex/a.png'],
    ['../a.png', '/a.png'],
    ['/a.png', '/a.png'],
    ['a%20b.png', '/models/a b.png'],
    ['100%.png', '/models/100%.png'],
    ['../../a.png', null],
    ['https://example.org/a.png', null],
    ['HTTP://example.org/a.png', null],
    ['//example.org/a.png', null],
    ['javascript:alert(1)', null],
    ['file:///etc/passwd', null],
    ['\\\\example.org\\a.png', null],
    ['', null],
  ];
  const wrong = cases.filter(([uri, path]) => {
    const resolved = pathOfReference(uri, '/models/car.gltf');
    return resolved !== (uri === '' ? null : path);
  });
  expect(wrong.filter(([uri]) => uri !== '')).toEqual([]);
});

test('a reference that leads nowhere is named as a person reads it', () => {
  expect(['a%20b.png', '%3Cb%3E.png', '100%.png'].map(nameOfReference)).toEqual([
    'a b.png',
    '<b>.png',
    '100%.png',
  ]);
});

test('only contents of the file and signed companions are loaded', () => {
  const companions = new Map([['a.png', 'http://bucket/a.png?signed']]);
  expect(allowedUrl(`${BASE}a.png`, companions)).toBe('http://bucket/a.png?signed');
  expect(allowedUrl('blob:http://page/1', companions)).toBe('blob:http://page/1');
  expect(allowedUrl('data:image/png;base64,AA==', companions)).toBe('data:image/png;base64,AA==');
  const foreign = [
    `${BASE}b.png`,
    'http://bucket/a.png',
    'https://example.org/x',
    '//example.org/x',
    'data:text/html,<script>alert(1)</script>',
    'javascript:alert(1)',
    '/database',
  ];
  expect(foreign.filter((url) => allowedUrl(url, companions) !== BLOCKED)).toEqual([]);
});

test('references of a glTF and of a GLB are found, and embedded data is not one', () => {
  const document = JSON.stringify({
    buffers: [{ uri: 'a.bin' }, { uri: 'data:application/octet-stream;base64,AA==' }, {}],
    images: [{ uri: 'https://example.org/a.png' }, { bufferView: 0 }, null, { uri: 7 }],
    extensionsUsed: ['KHR_draco_mesh_compression', 3],
    extensionsRequired: ['KHR_texture_basisu', null],
  });
  const expected = {
    uris: ['a.bin', 'https://example.org/a.png'],
    extensions: ['KHR_draco_mesh_compression'],
    required: ['KHR_texture_basisu'],
  };
  expect(referencesOf(bytes(document))).toEqual(expected);
  const json = new TextEncoder().encode(document);
  const glb = new Uint8Array(20 + json.length);
  const view = new DataView(glb.buffer);
  [0x46546c67, 2, glb.length, json.length, 0x4e4f534a].forEach((word, at) =>
    view.setUint32(at * 4, word, true),
  );
  glb.set(json, 20);
  expect(referencesOf(glb.buffer)).toEqual(expected);
});

test('what is no glTF is an error, not a hang', () => {
  expect(() => referencesOf(bytes('<html>'))).toThrow(SyntaxError);
  expect(() => referencesOf(new ArrayBuffer(0))).toThrow(SyntaxError);
  const glb = new DataView(new ArrayBuffer(20));
  [0x46546c67, 2, 20, 0xffffffff, 0x4e4f534a].forEach((word, at) =>
    glb.setUint32(at * 4, word, true),
  );
  expect(() => referencesOf(glb.buffer)).toThrow(RangeError);
});
