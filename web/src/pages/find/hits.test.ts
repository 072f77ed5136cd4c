import { describe, expect, it } from 'vitest';
import { cardOf, type Hit } from './hits';

const hit = (extension: string): Hit => ({
  _id: 'library:one',
  _index: 'assets',
  _index_type: 'asset',
  _source: { str_databaseid: 'library', str_assetid: 'one', str_assettype: extension },
  files: [
    {
      _id: 'library:one:one/a',
      _index: 'files',
      _index_type: 'file',
      _source: { str_key: `one/a${extension}`, str_fileext: extension, num_filesize: 4600 },
      preview: { id: '1', url: 'http://127.0.0.1/', expiresAt: '2100-01-01T00:00:00Z' },
    },
  ],
});

describe('the size on a card', () => {
  it('is that of the file', () => {
    expect(cardOf(hit('.glb'))).toMatchObject({ type: 'glb', size: 4600 });
  });

  it('is left out where the content is in other files', () => {
    expect(cardOf(hit('.gltf'))).toMatchObject({ type: 'gltf', size: null });
  });
});
