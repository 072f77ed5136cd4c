import { describe, expect, it } from 'vitest';
import { SOURCE_FIELDS, toCard, type Hit } from './hits';

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
    expect(toCard(hit('.glb'))).toMatchObject({ type: 'glb', size: 4600 });
  });

  it('is left out where the content is in other files', () => {
    expect(toCard(hit('.gltf'))).toMatchObject({ type: 'gltf', size: null });
  });
});

describe('the picture on a card', () => {
  const preview = { id: '2', url: 'http://127.0.0.1/2', expiresAt: '2100-01-01T00:00:00Z' };
  const pictured = (str_previewfilekey: string): Hit => {
    const document = hit('.pdf');
    return { ...document, preview, _source: { ...document._source, str_previewfilekey } };
  };

  it('is that of the file that the card names', () => {
    const card = toCard(pictured('previews/one/generated/preview.png'));
    expect(card).toMatchObject({ type: 'pdf', file: '/a.pdf' });
    expect(card.picture.preview?.id).toBe('1');
  });

  it('is not called archived for a file of the asset that is archived', () => {
    const model = hit('.obj');
    const missing = (reason: 'archived' | 'refused' | 'none') => ({ reason, message: '' });
    const file = (reason: 'archived' | 'refused'): Hit => ({
      ...(model.files?.[0] as Hit),
      preview: null,
      previewMissing: missing(reason),
    });
    const reasonOf = (own: 'archived' | 'none', ...files: Hit[]) =>
      toCard({ ...model, previewMissing: missing(own), files }).picture.previewMissing?.reason;
    expect(reasonOf('none', file('archived'))).toBe('none');
    expect(reasonOf('none', file('archived'), file('refused'))).toBe('refused');
    expect(reasonOf('archived', file('archived'))).toBe('archived');
  });

  it('is the one that a user chose', () => {
    expect(toCard(pictured('previews/one/mine.png')).picture.preview?.id).toBe('2');
  });
});

it('requests the fields that a card is made of, and no others', () => {
  const read = new Set<string>();
  const source = new Proxy<Record<string, unknown>>(
    {},
    {
      get: (_, name) => {
        read.add(String(name));
        return name === 'list_tags' ? [] : undefined;
      },
    },
  );
  const document = { ...hit('.pdf'), _source: source };
  toCard({ ...document, files: [{ ...document, preview: undefined }] });
  toCard({ ...document, files: [{ ...document, preview: { id: '1', url: '', expiresAt: '' } }] });
  // Columns request those of which they need a key.
  expect([...read].sort()).toEqual(['AB_', 'MD_', ...SOURCE_FIELDS]);
});
