import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ComponentType, Suspense, useState } from 'react';
import { Navigate, useNavigate, useSearchParams } from 'react-router';
import type { GitSyncStatus } from '../../../../schemas/api/delivery/git-sync.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { type GitTab, paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonBlock, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { BindingLine } from './binding-summary.tsx';
import { ExportHint } from './export-hint.tsx';
import { WrongNow } from './git-problems.tsx';
import { MODES } from './git-state-labels.ts';
import { ImportErrors } from './import-errors.tsx';
import { Manifests } from './manifests.tsx';
import { useSyncNow } from './overrides/override-mutations.ts';
import { PassesTab } from './passes/passes-tab.tsx';

const PlanTab = lazyPart(() => import('./plan/plan-tab.tsx'), 'PlanTab');
const DriftTab = lazyPart(() => import('./drift/drift-tab.tsx'), 'DriftTab');
const HoldsTab = lazyPart(() => import('./overrides/holds-tab.tsx'), 'HoldsTab');
const GitSettingsTab = lazyPart(() => import('./binding/git-settings-tab.tsx'), 'GitSettingsTab');

interface Tab {
  value: GitTab | 'now';
  word: string;
  Part: ComponentType<{ status: GitSyncStatus }>;
}

const NowTab = ({ status }: { status: GitSyncStatus }) => (
  <Stack gap="md">
    <ImportErrors status={status} />
    <Manifests status={status} />
  </Stack>
);

const TABS: readonly Tab[] = [
  { value: 'now', word: 'Now', Part: NowTab },
  { value: 'plan', word: 'Plan', Part: PlanTab },
  { value: 'drift', word: 'Drift', Part: DriftTab },
  { value: 'holds', word: 'Holds & pauses', Part: HoldsTab },
  { value: 'passes', word: 'Passes', Part: PassesTab },
  { value: 'settings', word: 'Settings', Part: GitSettingsTab },
];

/** In mode push nothing is planned or compared: the database goes to git. */
const TABS_OF_PUSH = TABS.filter(({ value }) => !['plan', 'drift'].includes(value));

/** What git wants, what is, and why they differ. */
export const GitPage = () => {
  const { environment } = usePlace();
  const [params] = useSearchParams();
  // Links from before pull requests had a page of their own.
  if (params.get('tab') === 'proposals') {
    const number = Number(params.get('focus'));
    const to = number > 0 ? paths.pullRequest(environment.id, number) : paths.promotions(environment.id);
    return <Navigate to={to} replace />;
  }
  return <GitOfEnvironment />;
};

const GitOfEnvironment = () => {
  const { environment, team } = usePlace();
  const status = useQuery(queries.git(environment.id));
  const sync = useSyncNow(environment.id);
  const mayNot = whyNot(team.role, 'EDITOR');
  const data = status.data;
  const isOff = !data?.configured || data.mode === 'off' || data.suspended;
  return (
    <Page
      title="Git"
      beside={data?.configured && <Marks status={data} />}
      actions={
        <Button
          icon="sync"
          kind="primary"
          disabled={mayNot !== null || sync.isPending || isOff}
          tip={mayNot ?? whyNoSync(data)}
          onClick={() => sync.mutate()}
        >
          {sync.isPending ? 'Starting…' : 'Sync now'}
        </Button>
      }
    >
      <Loaded
        query={status}
        what="The git binding"
        skeleton={
          <div className="page">
            <SkeletonBlock height={190} label="Loading the binding" />
            <SkeletonBlock height={400} label="Loading the manifests" />
          </div>
        }
      >
        {(loaded) =>
          loaded.configured ? (
            // What stands in forms and filters is of one environment.
            <Bound key={environment.id} status={loaded} />
          ) : (
            <Unbound key={environment.id} status={loaded} />
          )
        }
      </Loaded>
    </Page>
  );
};

function whyNoSync(status: GitSyncStatus | undefined): string | undefined {
  if (!status) return undefined;
  if (!status.configured || status.mode === 'off') return 'It is not bound to git.';
  return status.suspended ? 'It is suspended: resume it first.' : undefined;
}

const Marks = ({ status }: { status: GitSyncStatus }) => {
  const mode = MODES[status.mode];
  return (
    <>
      <Badge tone={mode.tone} tip={mode.means}>
        {mode.word}
      </Badge>
      {status.suspended && <Badge tone="held">Suspended</Badge>}
    </>
  );
};

const Bound = ({ status }: { status: GitSyncStatus }) => {
  const env = status.environmentId;
  const navigate = useNavigate();
  const [wanted] = useAddressParam('tab');
  const tabs = status.mode === 'push' ? TABS_OF_PUSH : TABS;
  const tab = tabs.find(({ value }) => value === wanted)?.value ?? 'now';
  return (
    <>
      <BindingLine status={status} brief={tab !== 'now'} />
      <WrongNow status={status} />
      <PageTabs
        label="Parts of the git page"
        value={tab}
        onChange={(next) =>
          void navigate(paths.git(env, { tab: next === 'now' ? undefined : next }), {
            preventScrollReset: true,
          })
        }
        tabs={tabs.map(({ value, word, Part }) => ({ value, word, render: () => <Part status={status} /> }))}
      />
    </>
  );
};

/** Teaches what a binding is; the form comes when it is asked for. */
const Unbound = ({ status }: { status: GitSyncStatus }) => {
  const { team } = usePlace();
  const [wanted] = useAddressParam('tab');
  const [binding, setBinding] = useState(wanted === 'settings');
  if (binding) {
    return (
      <Stack gap="md">
        <Suspense fallback={<SkeletonRows rows={6} />}>
          <GitSettingsTab status={status} />
        </Suspense>
        <ExportHint />
      </Stack>
    );
  }
  return (
    <Stack gap="md">
      <EmptyState icon="git" title="This environment is not bound to git">
        <p>
          Bind it to a folder of a repository: Headgate then makes the environment equal to what is committed
          there, and tells for every manifest how far it has come.
        </p>
        {team.role === 'ADMIN' ? (
          <Button kind="primary" onClick={() => setBinding(true)}>
            Bind to git
          </Button>
        ) : (
          <p className="muted">Ask an administrator of {team.name} to bind it.</p>
        )}
      </EmptyState>
      <ExportHint />
    </Stack>
  );
};
