import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router';
import { Find } from './pages/find/Find';
import { parseSearch } from './pages/find/state';
import { Failure } from './ui/Failure';
import { part, reload } from './ui/part';
import { NotFound, Shell } from './ui/Shell';

/** Rendering it again would not load what the page lacks, as its code. */
function PageFailure({ error }: { error: unknown }) {
  return <Failure error={error} reset={() => void reload()} />;
}

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: PageFailure,
});

const find = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: parseSearch,
  component: Find,
});

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value ? value : undefined;

const asset = createRoute({
  getParentRoute: () => root,
  path: '/databases/$databaseId/assets/$assetId',
  validateSearch: (search: Record<string, unknown>): { file?: string } => ({
    file: text(search.file),
  }),
  component: lazyRouteComponent(() => part(() => import('./pages/asset/Asset')), 'Asset'),
});

const databases = createRoute({
  getParentRoute: () => root,
  path: '/databases',
  component: lazyRouteComponent(
    () => part(() => import('./pages/database/Databases')),
    'Databases',
  ),
});

const database = createRoute({
  getParentRoute: () => root,
  path: '/databases/$databaseId',
  component: lazyRouteComponent(() => part(() => import('./pages/database/Database')), 'Database'),
});

const upload = createRoute({
  getParentRoute: () => root,
  path: '/upload',
  validateSearch: (search: Record<string, unknown>): { database?: string; asset?: string } => ({
    database: text(search.database),
    asset: text(search.asset),
  }),
  component: lazyRouteComponent(() => part(() => import('./pages/upload/Upload')), 'Upload'),
});

export const router = createRouter({
  routeTree: root.addChildren([find, databases, database, asset, upload]),
  basepath: '/ui',
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
