// The server of component tests: an administrator, a database and an asset with two texts.
import { http, HttpResponse, type HttpResponseResolver, type JsonBodyType } from 'msw';
import { setupServer } from 'msw/node';
import type { components } from '../api/schema';

type Schemas = components['schemas'];
type Method = 'get' | 'post' | 'put' | 'delete';
interface Sent {
  method: string;
  path: string;
  body: unknown;
}

export const PLACE = { databaseId: 'library', assetId: 'x1' };
export const ASSET = `/database/${PLACE.databaseId}/assets/${PLACE.assetId}`;

export const asset = {
  ...PLACE,
  assetName: 'lamp',
  description: 'A lamp of brass',
  tags: ['brass'],
  status: 'active',
  isDistributable: true,
  currentVersion: { Version: '1' },
} as Schemas['AssetReply'];

export const fileAt = (path: string, more: Partial<Schemas['FileItem']> = {}) =>
  ({
    fileName: path.slice(path.lastIndexOf('/') + 1),
    key: `${PLACE.assetId}${path}`,
    relativePath: path,
    isFolder: false,
    size: 10,
    ...more,
  }) as Schemas['FileItem'];

export const hit = (name: string, more: Record<string, unknown> = {}) =>
  ({
    _id: `library:${name}`,
    _index: 'assets',
    _index_type: 'asset',
    _score: 1,
    _source: { str_databaseid: 'library', str_assetid: name, str_assetname: name },
    previewMissing: { reason: 'none', message: '' },
    ...more,
  }) as unknown as Schemas['SearchHit'];

export const hits = (...items: Schemas['SearchHit'][]) => ({
  hits: { total: { value: items.length, relation: 'eq' }, hits: items },
  assetsFound: items.length,
  aggregations: {},
});

/** Requests that change something, in their order. */
export const sent: Sent[] = [];
export const searches: Sent[] = [];

const isResolver = (body: JsonBodyType | HttpResponseResolver): body is HttpResponseResolver =>
  typeof body === 'function';

/** What the server replies from now on, until the test ends. */
export function respond(
  method: Method,
  path: string,
  body: JsonBodyType | HttpResponseResolver,
  init: { status?: number; headers?: Record<string, string>; once?: boolean } = {},
): void {
  const { once, ...rest } = init;
  const resolve = isResolver(body) ? body : () => HttpResponse.json(body, rest);
  server.use(http[method](`*${path}`, resolve, { once }));
}

/** For a reply that is to arrive after something else: await `held` in it. */
export function holdReply() {
  const waiting = new EventTarget();
  const held = new Promise((resolve) => {
    waiting.addEventListener('release', resolve);
  });
  return { held, release: () => waiting.dispatchEvent(new Event('release')) };
}

const ROUTES = ['/search', '/assets', '/databases', '/upload', '/workflows', '/auth/tags'];
export const rightsTo = (...pages: string[]) => ({
  email: 'ann',
  allowedRoutes: pages.map((path) => ({ method: 'GET', route__path: path })),
});

const DEFAULTS: [Method, string, JsonBodyType][] = [
  ['get', '/api/amplify-config', {}],
  ['post', '/auth/routes', rightsTo(...ROUTES)],
  ['post', '/auth/session', { sessionId: 'session-2', userId: 'admin' }],
  ['delete', '/auth/session', { message: 'The session has ended' }],
  ['get', '/auth/loginProfile/admin', { message: { Items: [{ userId: 'admin' }] } }],
  ['get', '/database', { Items: [{ databaseId: 'library' }, { databaseId: 'other' }] }],
  ['get', ASSET, asset],
  ['get', `${ASSET}/listFiles`, { items: [fileAt('/a.txt'), fileAt('/b.txt')] }],
  ['get', `${ASSET}/fileInfo`, {}],
  ['get', `${ASSET}/metadata`, { metadata: [] }],
  ['get', `${ASSET}/metadata/file`, { metadata: [] }],
  ['get', `${ASSET}/dependencies`, { items: [] }],
  ['get', `${ASSET}/dependents`, { items: [] }],
  ['get', `${ASSET}/asset-links`, {}],
  ['get', `${ASSET}/files/similar`, { items: [] }],
  ['post', `${ASSET}/download`, { downloadUrl: 'http://storage.test/a.txt' }],
  [
    'get',
    '/tags',
    {
      Items: [
        { tagName: 'brass', databaseId: 'GLOBAL' },
        { tagName: 'museum', databaseId: 'library' },
        { tagName: 'elsewhere', databaseId: 'other' },
      ],
    },
  ],
  ['get', '/search/suggest', { suggestions: [] }],
  ['post', '/search', hits(hit('lamp'), hit('gear'))],
  ['post', '/previews', { items: [] }],
];

export const server = setupServer(
  ...DEFAULTS.map(([method, path, body]) =>
    http[method](`*${path}`, () => HttpResponse.json(body)),
  ),
  http.get('http://storage.test/*', () => HttpResponse.text('content')),
);

server.events.on('request:start', ({ request }) => {
  const { pathname: path } = new URL(request.url);
  const isRead = request.method === 'GET' || /\/(previews|routes|download)$/.test(path);
  if (isRead) return;
  const requests = path === '/search' ? searches : sent;
  void request
    .clone()
    .json()
    .catch(() => null)
    .then((body: unknown) => requests.push({ method: request.method, path, body }));
});
