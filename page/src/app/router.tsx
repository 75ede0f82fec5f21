/** The addresses of the page. Each can be linked to, and opens in the same state. */
import {
  Outlet,
  createRootRoute,
  createRoute,
  createRouter,
  redirect,
  useParams,
  useSearch,
} from '@tanstack/react-router';
import { MessageCircleQuestion } from '../ui/icons.tsx';
import { lazy, Suspense } from 'react';
import { readFolder } from '../features/folders/folder.ts';
import { useSearchFolder } from '../features/search/use-search-folder.ts';
import { useWords } from '../i18n/index.tsx';
import { Empty } from '../ui/empty.tsx';
import { MailView } from './mail-view.tsx';
import { NEW_DRAFT } from './links.ts';
import { useMay, useSession } from './session.tsx';
import { Shell } from './shell.tsx';

const HOME = 'open';
/** Most readers never open this view. */
const OperateView = lazy(async () => ({
  default: (await import('../features/operate/operate-view.tsx')).OperateView,
}));

const rootRoute = createRootRoute({
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  notFoundComponent: NotFound,
});

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/f/$folder', params: { folder: HOME }, replace: true });
  },
});

const folderRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/f/$folder',
  component: FolderView,
});
const folderThreadRoute = createRoute({ getParentRoute: () => folderRoute, path: '$threadId' });

const searchRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/search',
  validateSearch: ({ q }: Record<string, unknown>) => ({ q: typeof q === 'string' ? q : String(q ?? '') }),
  component: SearchView,
});
const searchThreadRoute = createRoute({ getParentRoute: () => searchRoute, path: '$threadId' });

/** The address that other programs link to: a thread, whatever its folder. */
const threadRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/t/$threadId',
  beforeLoad: ({ params: { threadId } }) => {
    throw redirect({ to: '/f/$folder/$threadId', params: { folder: HOME, threadId }, replace: true });
  },
});

const writeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/write',
  /** `account` is the one that a new message is to be sent from. */
  validateSearch: ({ account }: Record<string, unknown>) => (typeof account === 'string' ? { account } : {}),
  component: WriteView,
});
const writeDraftRoute = createRoute({ getParentRoute: () => writeRoute, path: '$draftId' });

const operateRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operate/$section',
  component: OperateSection,
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    homeRoute,
    folderRoute.addChildren([folderThreadRoute]),
    searchRoute.addChildren([searchThreadRoute]),
    threadRoute,
    writeRoute.addChildren([writeDraftRoute]),
    operateRoute,
  ]),
  defaultPreload: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

function FolderView() {
  const { text } = useWords();
  const { key_id: me } = useSession();
  const { folder: key } = folderRoute.useParams();
  const { threadId } = useParams({ strict: false });
  const folder = readFolder(key, me, text);
  return folder === null ? <NotFound /> : <MailView folder={folder} threadId={threadId ?? null} />;
}

function SearchView() {
  const { q } = useSearch({ from: searchRoute.id });
  const { threadId } = useParams({ strict: false });
  return <MailView folder={useSearchFolder(q)} threadId={threadId ?? null} />;
}

/** A new message, or a draft of one, beside the drafts. */
function WriteView() {
  const { text } = useWords();
  const { key_id: me } = useSession();
  const mayWrite = useMay('draft');
  const { draftId } = useParams({ strict: false });
  const folder = readFolder('drafts', me, text);
  return folder === null || !mayWrite ? (
    <NotFound />
  ) : (
    <MailView folder={folder} threadId={null} draftId={draftId ?? NEW_DRAFT} />
  );
}

function OperateSection() {
  const { section } = operateRoute.useParams();
  return (
    <Suspense fallback={<main className="pane-rest" />}>
      <OperateView section={section} />
    </Suspense>
  );
}

function NotFound() {
  const { text } = useWords();
  return (
    <main className="pane-rest">
      <Empty icon={MessageCircleQuestion} title={text.app.notFound} />
    </main>
  );
}
