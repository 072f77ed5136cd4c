// A GLB whose texture is one red block of UASTC in a KTX2 file, as an encoder would write it.

/** Four by four pixels of one colour: mode 8 of UASTC (5 bits), then red, green, blue, alpha. */
function block(red, green, blue) {
  const bits = 0x17n | (BigInt(red) << 5n) | (BigInt(green) << 13n) | (BigInt(blue) << 21n);
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64LE(bits | (255n << 29n));
  return bytes;
}

function ktx2() {
  const head = Buffer.alloc(80);
  head.set([0xab, 0x4b, 0x54, 0x58, 0x20, 0x32, 0x30, 0xbb, 0x0d, 0x0a, 0x1a, 0x0a]);
  // Undefined format, bytes, 4 × 4 pixels, no depth, no layers, one face, one level, as they are.
  [0, 1, 4, 4, 0, 0, 1, 1, 0].forEach((value, at) => head.writeUInt32LE(value, 12 + 4 * at));
  const described = 104;
  const size = 44;
  head.writeUInt32LE(described, 48);
  head.writeUInt32LE(size, 52);
  const start = 160;
  const level = Buffer.alloc(24);
  [start, 16, 16].forEach((value, at) => level.writeBigUInt64LE(BigInt(value), 8 * at));
  const format = Buffer.alloc(start - described);
  format.writeUInt32LE(size, 0);
  format.writeUInt16LE(2, 8);
  format.writeUInt16LE(40, 10);
  format.set([166, 1, 2, 0, 3, 3, 0, 0, 16], 12); // UASTC, BT.709, sRGB, blocks of 4 × 4, 16 bytes
  format.set([0, 0, 127, 3], 28);
  format.writeUInt32LE(0xffffffff, 40);
  return Buffer.concat([head, level, format, block(255, 0, 0)]);
}

/** A square that is lit only by its own texture. */
export function glb() {
  const texture = ktx2();
  const places = new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, -1, 0, 1, 1, 0, -1, 1, 0]);
  const uvs = new Float32Array([0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1]);
  const data = Buffer.concat([Buffer.from(places.buffer), Buffer.from(uvs.buffer), texture]);
  const json = {
    asset: { version: '2.0' },
    extensionsUsed: ['KHR_texture_basisu', 'KHR_materials_unlit'],
    extensionsRequired: ['KHR_texture_basisu'],
    scene: 0,
    scenes: [{ nodes: [0] }],
    nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, TEXCOORD_0: 1 }, material: 0 }] }],
    materials: [
      {
        doubleSided: true,
        extensions: { KHR_materials_unlit: {} },
        pbrMetallicRoughness: { baseColorTexture: { index: 0 } },
      },
    ],
    textures: [{ extensions: { KHR_texture_basisu: { source: 0 } } }],
    images: [{ bufferView: 2, mimeType: 'image/ktx2' }],
    accessors: [
      {
        bufferView: 0,
        componentType: 5126,
        count: 6,
        type: 'VEC3',
        min: [-1, -1, 0],
        max: [1, 1, 0],
      },
      { bufferView: 1, componentType: 5126, count: 6, type: 'VEC2' },
    ],
    bufferViews: [
      { buffer: 0, byteOffset: 0, byteLength: 72 },
      { buffer: 0, byteOffset: 72, byteLength: 48 },
      { buffer: 0, byteOffset: 120, byteLength: texture.length },
    ],
    buffers: [{ byteLength: data.length }],
  };
  const text = Buffer.from(JSON.stringify(json));
  const padded = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, 0x20)]);
  const head = Buffer.alloc(20);
  head.write('glTF');
  [2, 28 + padded.length + data.length, padded.length, 0x4e4f534a].forEach((value, at) =>
    head.writeUInt32LE(value, 4 + 4 * at),
  );
  const chunk = Buffer.alloc(8);
  chunk.writeUInt32LE(data.length, 0);
  chunk.writeUInt32LE(0x004e4942, 4);
  return Buffer.concat([head, padded, chunk, data]);
}
