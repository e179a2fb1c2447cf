import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense, useEffect } from 'react';
import {
  createBrowserRouter,
  Navigate,
  Outlet,
  Route,
  RouterProvider,
  Routes,
  useLocation,
  useParams,
  useRouteError,
} from 'react-router';
import type { TeamSummary } from '../../../schemas/api/identity/people.ts';
import { isUnauthorized, mayRetry, requiredActionOf, retryDelayMs } from '../api/client.ts';
import { CodeIsGone, lazyPart } from '../api/lazy-part.ts';
import { watchReach } from '../api/reachability.ts';
import { type Session, SIGNED_OUT, sessionQuery } from '../api/session.ts';
import { OverviewPage } from '../features/overview/overview-page.tsx';
import { ErrorState, SkeletonRows } from '../ui/feedback/page-states.tsx';
import { TooltipLayer } from '../ui/primitives/tooltip.tsx';
import { keepDraftsOf } from './draft-storage.ts';
import { Boundary } from './error-boundary.tsx';
import { useFollowing } from './live-updates.ts';
import { paths } from './paths.ts';
import { readPreference, writePreference } from './preferences/preferences.ts';
import { reloadOnce } from './reload-once.ts';
import { type PlaceLookup, PlaceProvider, TeamProvider, usePlaceLookup } from './scope.tsx';
import { styleNonce } from './security/nonce.ts';
import { PlainShell } from './shell/plain-shell.tsx';
import { Shell } from './shell/shell.tsx';
import { colorScheme, cssVariablesResolver, theme } from './theme.ts';

const PipelinesPage = lazyPart(() => import('../features/pipelines/pipelines-page.tsx'), 'PipelinesPage');
const SignInPage = lazyPart(() => import('../features/sign-in/sign-in-page.tsx'), 'SignInPage');
const FleetPage = lazyPart(() => import('../features/fleet/fleet-page.tsx'), 'FleetPage');
const NodePage = lazyPart(() => import('../features/node/node-page.tsx'), 'NodePage');
const GroupPage = lazyPart(() => import('../features/node-group/node-group-page.tsx'), 'GroupPage');
const AlertsPage = lazyPart(() => import('../features/alerts/alerts-page.tsx'), 'AlertsPage');
const PipelinePage = lazyPart(() => import('../features/pipeline/pipeline-page.tsx'), 'PipelinePage');
const PipelineEditorPage = lazyPart(
  () => import('../features/pipeline-editor/pipeline-editor-page.tsx'),
  'PipelineEditorPage',
);
const MigrationsPage = lazyPart(() => import('../features/migrations/migrations-page.tsx'), 'MigrationsPage');
const MigrationPage = lazyPart(() => import('../features/migrations/migration-page.tsx'), 'MigrationPage');
const LibraryPage = lazyPart(() => import('../features/library/library-page.tsx'), 'LibraryPage');
const PlaygroundPage = lazyPart(() => import('../features/playground/playground-page.tsx'), 'PlaygroundPage');
const GitPage = lazyPart(() => import('../features/git/git-page.tsx'), 'GitPage');
const PromotionsPage = lazyPart(() => import('../features/promotions/promotions-page.tsx'), 'PromotionsPage');
const PullRequestPage = lazyPart(
  () => import('../features/pull-request/pull-request-page.tsx'),
  'PullRequestPage',
);
const MetricsPage = lazyPart(() => import('../features/metrics/metrics-page.tsx'), 'MetricsPage');
const AuditPage = lazyPart(() => import('../features/audit/audit-page.tsx'), 'AuditPage');
const SecretsPage = lazyPart(() => import('../features/secrets/secrets-page.tsx'), 'SecretsPage');
const SettingsPage = lazyPart(() => import('../features/settings/settings-page.tsx'), 'SettingsPage');
const ApiDocsPage = lazyPart(() => import('../features/api-docs/api-docs-page.tsx'), 'ApiDocsPage');
const NoPlacePage = lazyPart(
  () => import('../features/no-environment/no-environment-page.tsx'),
  'NoPlacePage',
);

const OwingPage = lazyPart(() => import('../features/account/required-action-page.tsx'), 'OwingPage');

const setSession = (session: Session): void => {
  queryClient.setQueryData(sessionQuery.queryKey, session);
};

/** A team may ask for a second factor while its pages are open. */
const recordRequiredAction = (error: unknown): void => {
  const action = requiredActionOf(error);
  if (!action) return;
  queryClient.setQueryData(sessionQuery.queryKey, (session = SIGNED_OUT) => ({
    ...session,
    signedIn: true,
    owes: action,
  }));
};

const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error) => (isUnauthorized(error) ? setSession(SIGNED_OUT) : recordRequiredAction(error)),
  }),
  mutationCache: new MutationCache({ onError: recordRequiredAction }),
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      retry: mayRetry,
      retryDelay: retryDelayMs,
    },
  },
});

watchReach(queryClient);

/** Listeners of the cache hear of a session before any page that is drawn with it. */
queryClient.getQueryCache().subscribe(({ query }) => {
  if (query.queryKey[0] !== sessionQuery.queryKey[0]) return;
  const session = queryClient.getQueryData(sessionQuery.queryKey);
  if (session?.userId) keepDraftsOf(session.userId);
});

/**
 * Sends unauthenticated users to the sign-in page, and back afterwards. Users with a required action see that instead of the
 * page, whose address stays.
 */
const SignedIn = () => {
  const session = useQuery(sessionQuery);
  const location = useLocation();
  if (session.isError && !session.data) {
    return (
      <main className="alone">
        <ErrorState error={session.error} retry={() => void session.refetch()} what="Headgate" level={1} />
      </main>
    );
  }
  if (!session.data) return <Splash />;
  if (!session.data.signedIn)
    return <Navigate to={paths.signIn(location.pathname + location.search)} replace />;
  if (session.data.owes) {
    return (
      <Suspense fallback={<Splash />}>
        <OwingPage owes={session.data.owes} />
      </Suspense>
    );
  }
  return <Followed />;
};

/**
 * Follows changes from before the first page reads: of what happens between a read and the beginning of the stream, nobody
 * would tell.
 */
const Followed = () => {
  useFollowing();
  return <Outlet />;
};

/** Finds the environment of the address, or chooses the one last used. */
const InEnvironment = () => {
  const { environmentId } = useParams();
  const wanted = environmentId ?? readPreference('environment');
  const lookup = usePlaceLookup(wanted);
  if (lookup.kind === 'loading' || lookup.kind === 'failed') return <NoPlaceKnown lookup={lookup} />;
  if (lookup.kind === 'none') {
    return (
      <OutsideEnvironments team={lookup.team}>
        <NoPlacePage team={lookup.team} />
      </OutsideEnvironments>
    );
  }
  if (lookup.kind === 'unknown') return <Navigate to={paths.overview(lookup.fallback.id)} replace />;
  if (!environmentId) return <Navigate to={paths.overview(lookup.place.environment.id)} replace />;
  if (readPreference('environment') !== environmentId) writePreference('environment', environmentId);
  return (
    <PlaceProvider place={lookup.place}>
      <Shell>
        <Boundary>
          <Suspense fallback={<SkeletonRows rows={12} />}>
            <Outlet />
          </Suspense>
        </Boundary>
      </Shell>
    </PlaceProvider>
  );
};

/** `/settings`: those of the environment last used; on a page of their own for users without one. */
const SettingsAnywhere = () => {
  const lookup = usePlaceLookup(readPreference('environment'));
  const { search } = useLocation();
  if (lookup.kind === 'loading' || lookup.kind === 'failed') return <NoPlaceKnown lookup={lookup} />;
  if (lookup.kind === 'none') {
    return (
      <OutsideEnvironments team={lookup.team}>
        <SettingsPage />
      </OutsideEnvironments>
    );
  }
  const { id } = lookup.kind === 'found' ? lookup.place.environment : lookup.fallback;
  return <Navigate to={paths.settings(id) + search} replace />;
};

const NoPlaceKnown = ({ lookup }: { lookup: Extract<PlaceLookup, { kind: 'loading' | 'failed' }> }) =>
  lookup.kind === 'loading' ? (
    <Splash />
  ) : (
    <main className="alone">
      <ErrorState error={lookup.error} retry={lookup.retry} what="Your teams" level={1} />
    </main>
  );

const OutsideEnvironments = ({ team, children }: { team: TeamSummary | null; children: ReactNode }) => (
  <TeamProvider team={team}>
    <PlainShell>
      <Boundary>
        <Suspense fallback={<SkeletonRows rows={12} />}>{children}</Suspense>
      </Boundary>
    </PlainShell>
  </TeamProvider>
);

const Splash = () => (
  <main className="alone" aria-busy="true">
    <SkeletonRows rows={6} label="Loading Headgate" />
  </main>
);

const Pages = () => (
  <>
    <Routes>
      <Route
        path="/sign-in"
        element={
          <Suspense fallback={<Splash />}>
            <SignInPage />
          </Suspense>
        }
      />
      <Route
        path="/docs/api"
        element={
          <Boundary>
            <Suspense fallback={<Splash />}>
              <ApiDocsPage />
            </Suspense>
          </Boundary>
        }
      />
      <Route element={<SignedIn />}>
        <Route path="/e/:environmentId" element={<InEnvironment />}>
          <Route path="overview" element={<OverviewPage />} />
          <Route path="pipelines" element={<PipelinesPage />} />
          <Route path="pipelines/:pipelineId" element={<PipelinePage />} />
          <Route path="pipelines/:pipelineId/edit" element={<PipelineEditorPage />} />
          <Route path="fleet" element={<FleetPage />} />
          <Route path="fleet/:nodeId" element={<NodePage />} />
          <Route path="fleet/groups/:groupId" element={<GroupPage />} />
          <Route path="alerts" element={<AlertsPage />} />
          <Route path="migrations" element={<MigrationsPage />} />
          <Route path="migrations/:migrationId" element={<MigrationPage />} />
          <Route path="library" element={<LibraryPage />} />
          <Route path="playground" element={<PlaygroundPage />} />
          <Route path="git" element={<GitPage />} />
          <Route path="promotions" element={<PromotionsPage />} />
          <Route path="promotions/:number" element={<PullRequestPage />} />
          <Route path="metrics" element={<MetricsPage />} />
          <Route path="secrets" element={<SecretsPage />} />
          <Route path="audit" element={<AuditPage />} />
          <Route path="settings" element={<SettingsPage />} />
          <Route path="*" element={<Navigate to="overview" replace />} />
          <Route index element={<Navigate to="overview" replace />} />
        </Route>
        <Route path="/settings" element={<SettingsAnywhere />} />
        <Route path="*" element={<InEnvironment />} />
      </Route>
    </Routes>
    <TooltipLayer />
  </>
);

const Broken = () => {
  const error = useRouteError();
  useEffect(() => {
    if (error instanceof CodeIsGone) reloadOnce();
  }, [error]);
  return (
    <main className="alone">
      <ErrorState error={error} retry={() => window.location.reload()} what="Headgate" level={1} />
    </main>
  );
};

/** A router of one route: pages that ask before they are left need it, and the routes are in `Pages`. */
const router = createBrowserRouter([{ path: '*', element: <Pages />, errorElement: <Broken /> }]);

export const App = () => (
  <MantineProvider
    theme={theme}
    cssVariablesResolver={cssVariablesResolver}
    defaultColorScheme="auto"
    colorSchemeManager={colorScheme}
    getStyleNonce={() => styleNonce}
  >
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>
);
