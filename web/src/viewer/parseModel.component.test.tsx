import { http, HttpResponse } from 'msw';
import { beforeEach, expect, test } from 'vitest';
import { ASSET, PLACE, server } from '../testing/server';
import { viewerTexts } from '../texts/viewer';
import { parseModel } from './parseModel';

const requests: unknown[] = [];

beforeEach(() => {
  requests.length = 0;
  server.use(
    http.post(`http://vitrine.test${ASSET}/download`, async ({ request }) => {
      const body = (await request.json()) as { keys?: string[] };
      requests.push(body);
      const files = (body.keys ?? []).map((key) =>
        key.includes('gone')
          ? { key, downloadUrl: null, success: false, error: 'there is no such file' }
          : { key, downloadUrl: `http://bucket.test${key}`, success: true, error: null },
      );
      if (!files.some((file) => file.success))
        return HttpResponse.json({ message: 'no file can be downloaded' }, { status: 400 });
      return HttpResponse.json({ downloadUrl: 'x', expiresIn: 900, files });
    }),
  );
});

/** A glTF that names pictures which nothing in it uses. */
const model = (uris: string[]) => {
  const images = uris.map((uri) => ({ uri }));
  const text = JSON.stringify({ asset: { version: '2.0' }, scene: 0, scenes: [{}], images });
  return Uint8Array.from(new TextEncoder().encode(text)).buffer;
};
const parse = (uris: string[]) => parseModel(model(uris), { place: PLACE, path: '/m/car.gltf' });
const names = (count: number) => Array.from({ length: count }, (_, number) => `${number}.png`);

test('the addresses of all files that a model names take one request', async () => {
  const loaded = await parse([...names(497), 'gone.png', 'https://example.org/a.png', '1.png']);
  expect(loaded.missing.toSorted()).toEqual(['gone.png', 'https://example.org/a.png']);
  expect(requests).toEqual([
    {
      downloadType: 'assetFile',
      keys: [...names(497), 'gone.png'].map((name) => `/m/${name}`),
    },
  ]);
});

test('a model of which nothing is there is shown without it', async () => {
  expect((await parse(['gone.png'])).missing).toEqual(['gone.png']);
});

test.each([501, 100_000])('a model that names %d files causes no request', async (count) => {
  await expect(parse(names(count))).rejects.toThrow(viewerTexts.manyReferences(count, 500));
  expect(requests).toEqual([]);
});

test.each([501, 100_000])(
  'a model that names one file %d times causes no request',
  async (count) => {
    const uris = Array.from({ length: count }, () => 'a.png');
    await expect(parse(uris)).rejects.toThrow(viewerTexts.manyReferences(count, 500));
    expect(requests).toEqual([]);
  },
);
