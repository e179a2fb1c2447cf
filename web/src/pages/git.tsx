import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Navigate, useNavigate, useSearchParams } from 'react-router';
import type { GitSyncStatus } from '../../../schemas/api/git-sync.ts';
import { queries } from '../api/queries.ts';
import { useAddressParam } from '../app/address.ts';
import { usePlace } from '../app/environment.tsx';
import { type GitTab, paths } from '../app/paths.ts';
import { Badge } from '../components/bits.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { EmptyState, Loaded, SkeletonBlock, SkeletonRows } from '../components/states.tsx';
import { whyNot } from './fleet/may.ts';
import { BindingLine } from './git/binding-line.tsx';
import { ExportHint } from './git/export-hint.tsx';
import { ImportErrors } from './git/import-errors.tsx';
import { Manifests } from './git/manifests.tsx';
import { Passes } from './git/passes.tsx';
import { useSyncNow } from './git/word-actions.ts';
import { MODES } from './git/words.ts';
import { WrongNow } from './git/wrong-now.tsx';

const PlanTab = lazy(() => import('./git/plan-tab.tsx').then((module) => ({ default: module.PlanTab })));
const DriftTab = lazy(() => import('./git/drift-tab.tsx').then((module) => ({ default: module.DriftTab })));
const HoldsTab = lazy(() => import('./git/holds-tab.tsx').then((module) => ({ default: module.HoldsTab })));
const GitSettingsTab = lazy(() =>
  import('./git/settings-tab.tsx').then((module) => ({ default: module.GitSettingsTab })),
);

const TABS: readonly { value: GitTab | 'now'; word: string }[] = [
  { value: 'now', word: 'Now' },
  { value: 'plan', word: 'Plan' },
  { value: 'drift', word: 'Drift' },
  { value: 'holds', word: 'Holds & pauses' },
  { value: 'passes', word: 'Passes' },
  { value: 'settings', word: 'Settings' },
];

/** In mode push nothing is planned or compared: the database goes to git. */
const TABS_OF_A_COPY = TABS.filter(({ value }) => !['plan', 'drift'].includes(value));

/** Those that come when they are looked at. */
const PARTS = [
  { value: 'plan', Part: PlanTab },
  { value: 'drift', Part: DriftTab },
  { value: 'holds', Part: HoldsTab },
  { value: 'settings', Part: GitSettingsTab },
] as const;

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
        <button
          type="button"
          className="button"
          data-kind="primary"
          disabled={mayNot !== null || sync.isPending || isOff}
          data-tip={mayNot ?? whyNoSync(data)}
          onClick={() => sync.mutate()}
        >
          <Icon name="sync" /> {sync.isPending ? 'Starting…' : 'Sync now'}
        </button>
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
  const tabs = status.mode === 'push' ? TABS_OF_A_COPY : TABS;
  const tab = tabs.find(({ value }) => value === wanted)?.value ?? 'now';
  return (
    <>
      <BindingLine status={status} brief={tab !== 'now'} />
      <WrongNow status={status} />
      <Tabs
        value={tab}
        onChange={(value) => {
          const next = tabs.find((each) => each.value === value)?.value;
          if (next)
            void navigate(paths.git(env, { tab: next === 'now' ? undefined : next }), {
              preventScrollReset: true,
            });
        }}
        keepMounted={false}
      >
        <Tabs.List aria-label="Parts of the git page">
          {tabs.map(({ value, word }) => (
            <Tabs.Tab key={value} value={value}>
              {word}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="now">
          <div className="stack">
            <ImportErrors status={status} />
            <Manifests status={status} />
          </div>
        </Tabs.Panel>
        <Tabs.Panel value="passes">
          <Passes environmentId={env} failedCount={status.failedCount} />
        </Tabs.Panel>
        <Suspense fallback={<SkeletonRows rows={6} />}>
          {PARTS.map(({ value, Part }) => (
            <Tabs.Panel key={value} value={value}>
              <Part status={status} />
            </Tabs.Panel>
          ))}
        </Suspense>
      </Tabs>
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
      <div className="stack">
        <Suspense fallback={<SkeletonRows rows={6} />}>
          <GitSettingsTab status={status} />
        </Suspense>
        <ExportHint />
      </div>
    );
  }
  return (
    <div className="stack">
      <EmptyState icon="git" title="This environment is not bound to git">
        <p>
          Bind it to a folder of a repository: Headgate then makes the environment equal to what is committed
          there, and tells for every manifest how far it has come.
        </p>
        {team.role === 'ADMIN' ? (
          <button type="button" className="button" data-kind="primary" onClick={() => setBinding(true)}>
            Bind to git
          </button>
        ) : (
          <p className="muted">Ask an administrator of {team.name} to bind it.</p>
        )}
      </EmptyState>
      <ExportHint />
    </div>
  );
};
