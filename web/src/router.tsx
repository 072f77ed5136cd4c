import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { FindPage } from './pages/find/FindPage';
import { parseSearch } from './pages/find/findState';
import { ErrorNotice } from './ui/ErrorNotice';
import { reloadPage } from './ui/lazyComponent';
import { loadChunk } from './api/loadChunk';
import { NotFound, Shell } from './pages/shell/Shell';
import { texts } from './texts';

/** Rendering it again would not load what the page lacks, as its code. */
function PageError({ error }: { error: unknown }) {
  return <ErrorNotice error={error} onRetry={() => void reloadPage()} />;
}

/** While the code of a page loads. */
function PagePending() {
  return (
    <p className="notice" role="status">
      {texts.loading}
    </p>
  );
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageError,
});

const find = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: parseSearch,
  component: FindPage,
});

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value ? value : undefined;
/** As text, but the router parses `3` as a number. */
const id = (value: unknown): string | undefined =>
  text(typeof value === 'number' ? String(value) : value);

const asset = createRoute({
  getParentRoute: () => root,
  path: '/databases/$databaseId/assets/$assetId',
  validateSearch: (
    search: Record<string, unknown>,
  ): {
    file?: string;
    version?: string;
    content?: string;
    camera?: string;
    view?: string;
    show?: 'runs';
  } => ({
    file: text(search.file),
    // A version of the asset; the versions of its files have other ids.
    version: id(search.version),
    content: id(search.content),
    camera: text(search.camera),
    /** The id of a saved view. */
    view: text(search.view),
    show: search.show === 'runs' ? 'runs' : undefined,
  }),
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/asset/AssetPage')),
    'AssetPage',
  ),
});

const databases = createRoute({
  getParentRoute: () => root,
  path: '/databases',
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/database/DatabasesPage')),
    'DatabasesPage',
  ),
});

const database = createRoute({
  getParentRoute: () => root,
  path: '/databases/$databaseId',
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/database/DatabasePage')),
    'DatabasePage',
  ),
});

const upload = createRoute({
  getParentRoute: () => root,
  path: '/upload',
  validateSearch: (
    search: Record<string, unknown>,
  ): { database?: string; asset?: string; folder?: string } => ({
    database: text(search.database),
    asset: text(search.asset),
    folder: text(search.folder),
  }),
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/upload/UploadPage')),
    'UploadPage',
  ),
});

const jobs = createRoute({
  getParentRoute: () => root,
  path: '/jobs',
  component: lazyRouteComponent(() => loadChunk(() => import('./pages/jobs/JobsPage')), 'JobsPage'),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: '/compare',
  validateSearch: (search: Record<string, unknown>): { left?: string; right?: string } => ({
    left: text(search.left),
    right: text(search.right),
  }),
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/compare/ComparePage')),
    'ComparePage',
  ),
});

const archived = createRoute({
  getParentRoute: () => root,
  path: '/archived',
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/archived/ArchivedPage')),
    'ArchivedPage',
  ),
});

const metadata = createRoute({
  getParentRoute: () => root,
  path: '/metadata',
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/metadata/MetadataPage')),
    'MetadataPage',
  ),
});

const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  validateSearch: (search: Record<string, unknown>): { user?: string } => ({
    user: id(search.user),
  }),
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/access/AccessPage')),
    'AccessPage',
  ),
});

const saved = createRoute({
  getParentRoute: () => root,
  path: '/saved',
  component: lazyRouteComponent(
    () => loadChunk(() => import('./pages/saved/SavedPage')),
    'SavedPage',
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    find,
    databases,
    database,
    asset,
    upload,
    jobs,
    compare,
    archived,
    metadata,
    access,
    saved,
  ]),
  basepath: '/ui',
  defaultPreload: 'intent',
  defaultErrorComponent: PageError,
  defaultPendingComponent: PagePending,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
