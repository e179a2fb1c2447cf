import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useRef } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import type { Pipeline } from '../../../schemas/api/pipelines.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { useEver } from '../app/ever.ts';
import { type PipelineTab, paths } from '../app/paths.ts';
import { Badge, Commit, Labels, Time } from '../components/bits.tsx';
import { pipelineCause } from '../components/causes.ts';
import { ConditionList } from '../components/condition-list.tsx';
import { Crashes } from '../components/crashes.tsx';
import { formatRate, plural } from '../components/format.ts';
import { GateStrip } from '../components/gate-strip.tsx';
import { LazyLogViewer } from '../components/logs/lazy-log-viewer.tsx';
import { Page, Section } from '../components/page.tsx';
import { Loaded, SkeletonBlock, SkeletonRows } from '../components/states.tsx';
import { KeptBack } from './pipeline/kept-back.tsx';
import { PipelineNodes } from './pipeline/nodes-tab.tsx';
import { PageActions } from './pipeline/page-actions.tsx';
import { SharedUpdates } from './pipeline/shared-updates.tsx';
import { pipelineStatus } from './pipeline-status.ts';
import { type Actions, usePipelineActions } from './pipelines/actions.ts';

const Graph = lazy(() => import('./pipeline/graph.tsx').then((module) => ({ default: module.Graph })));
const Throughput = lazy(() =>
  import('./pipeline/throughput.tsx').then((module) => ({ default: module.Throughput })),
);
const ComponentPanel = lazy(() =>
  import('./pipeline/component-panel.tsx').then((module) => ({ default: module.ComponentPanel })),
);
const EventsTab = lazy(() =>
  import('./pipeline/events/events-tab.tsx').then((module) => ({ default: module.EventsTab })),
);
const VersionsTab = lazy(() =>
  import('./pipeline/versions-tab.tsx').then((module) => ({ default: module.VersionsTab })),
);
const DependenciesTab = lazy(() =>
  import('./pipeline/dependencies-tab.tsx').then((module) => ({ default: module.DependenciesTab })),
);
const SettingsTab = lazy(() =>
  import('./pipeline/settings-tab.tsx').then((module) => ({ default: module.SettingsTab })),
);
const PipelineDialogs = lazy(() =>
  import('./pipelines/dialogs.tsx').then((module) => ({ default: module.PipelineDialogs })),
);
const ConfigTab = lazy(() =>
  import('./pipeline/config-tab.tsx').then((module) => ({ default: module.ConfigTab })),
);

const TABS: readonly { value: PipelineTab; word: string }[] = [
  { value: 'nodes', word: 'Nodes' },
  { value: 'logs', word: 'Logs' },
  { value: 'events', word: 'Events' },
  { value: 'versions', word: 'Versions' },
  { value: 'config', word: 'Config' },
  { value: 'dependencies', word: 'Dependencies' },
  { value: 'settings', word: 'Settings' },
];

export const PipelinePage = () => {
  const { environment } = usePlace();
  const { pipelineId = '' } = useParams();
  const pipeline = useQuery(queries.pipeline(pipelineId));
  return (
    <Loaded
      query={pipeline}
      what="This pipeline"
      around={(error) => (
        <Page title="Pipeline" back={{ to: paths.pipelines(environment.id), word: 'Pipelines' }}>
          {error}
        </Page>
      )}
      skeleton={
        <div className="page">
          <SkeletonBlock height={32} label="Loading the pipeline" />
          <SkeletonBlock height={330} label="Loading the gate" />
          <SkeletonBlock height={380} label="Loading the graph" />
        </div>
      }
    >
      {(data) => <PipelineView env={environment.id} pipeline={data} />}
    </Loaded>
  );
};

const PipelineView = ({ env, pipeline }: { env: string; pipeline: Pipeline }) => {
  const [params] = useSearchParams();
  const navigate = useNavigate();
  const wanted = params.get('tab');
  const tab = TABS.find(({ value }) => value === wanted)?.value ?? 'nodes';
  const parts = useRef<HTMLDivElement>(null);
  // A log and events need the height of the window, and links to them come from anywhere.
  useEffect(() => {
    if (tab !== 'logs' && tab !== 'events') return;
    const frame = requestAnimationFrame(() => parts.current?.scrollIntoView());
    return () => cancelAnimationFrame(frame);
  }, [tab]);
  const [component, setComponent] = useComponent();
  const selected = pipeline.nodes.find(({ componentKey }) => componentKey === component.split('.')[0]);
  /** Events are always of some component: beside the nodes of the graph nothing is chosen there. */
  const choose = (key: string | null): void => {
    if (key !== selected?.componentKey && (key !== null || tab !== 'events')) setComponent(key ?? '');
  };
  const actions = useActionsOf(pipeline);
  const dialogsEver = useEver(actions.action !== null);
  const { tone, word } = pipelineStatus(pipeline);
  const { running, total } = pipeline.nodeCounts;
  return (
    <Page
      title={pipeline.name}
      back={{ to: paths.pipelines(env), word: 'Pipelines' }}
      beside={
        <>
          <Badge tone={tone}>{total === 0 ? word : `${running}/${total} ${word}`}</Badge>
          {pipeline.hasConfigChanges && <Badge tone="moving">Changes not deployed</Badge>}
        </>
      }
      actions={<PageActions env={env} pipeline={pipeline} start={actions.start} />}
    >
      {pipeline.description && <p className="muted">{pipeline.description}</p>}
      <Crashes
        rows={pipeline.statuses}
        title={(count) => `It crashed on ${count} of ${plural(pipeline.statuses.length, 'node')}`}
        nameOf={(row) => row.nodeName}
        logHref={(row) => paths.pipeline(env, pipeline.id, { tab: 'logs', level: 'ERROR', node: row.nodeId })}
      />
      <KeptBack pipeline={pipeline} />
      <SharedUpdates env={env} pipeline={pipeline} />
      <section className="section" aria-label="Gate">
        <div className="headline">
          <CommitLine pipeline={pipeline} />
        </div>
        <div className="section-body">
          <GateStrip
            gate={pipeline.gate}
            of={pipeline.name}
            causeOf={pipelineCause(env, pipeline.id)}
            size="large"
          />
        </div>
        {pipeline.git && pipeline.git.conditions.length > 0 && (
          <div style={{ borderTop: '1px solid var(--border)' }}>
            <ConditionList conditions={pipeline.git.conditions} of={pipeline.name} />
          </div>
        )}
      </section>
      <Section
        title="Graph"
        beside={
          <span className="muted mono">
            {formatRate(pipeline.rates.eventsIn)} in, {formatRate(pipeline.rates.eventsOut)} out,{' '}
            {formatRate(pipeline.rates.errors)} errors
          </span>
        }
      >
        <Suspense fallback={<div className="graph" style={{ height: 200 }} />}>
          <Graph
            nodes={pipeline.nodes}
            edges={pipeline.edges}
            components={pipeline.components}
            selected={selected?.componentKey}
            select={choose}
          />
        </Suspense>
        {selected && tab !== 'events' && (
          <Suspense fallback={<SkeletonRows rows={4} label="Loading the component" />}>
            <ComponentPanel env={env} pipeline={pipeline} node={selected} close={() => setComponent('')} />
          </Suspense>
        )}
      </Section>
      <Section title="Throughput since you opened this page">
        <Suspense fallback={<div style={{ height: 189 }} />}>
          <Throughput pipelineId={pipeline.id} />
        </Suspense>
      </Section>
      <Tabs
        ref={parts}
        value={tab}
        onChange={(value) => {
          const next = TABS.find((each) => each.value === value)?.value;
          if (next)
            void navigate(
              paths.pipeline(env, pipeline.id, { tab: next, component: component || undefined }),
              {
                replace: true,
                preventScrollReset: true,
              },
            );
        }}
        keepMounted={false}
      >
        <Tabs.List aria-label="Parts of the pipeline">
          {TABS.map(({ value, word: title }) => (
            <Tabs.Tab key={value} value={value}>
              {title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="nodes">
          <PipelineNodes env={env} pipeline={pipeline} />
        </Tabs.Panel>
        <Tabs.Panel value="logs">
          <LazyLogViewer
            source={{ kind: 'pipeline', id: pipeline.id, environmentId: pipeline.environmentId }}
            choices={pipeline.statuses.map(({ nodeId, nodeName }) => ({ id: nodeId, name: nodeName }))}
          />
        </Tabs.Panel>
        <Tabs.Panel value="events">
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <EventsTab env={env} pipeline={pipeline} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <VersionsTab env={env} pipeline={pipeline} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="config">
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <ConfigTab pipelineId={pipeline.id} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="dependencies">
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <DependenciesTab env={env} pipeline={pipeline} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Suspense fallback={<SkeletonRows rows={6} />}>
            <SettingsTab env={env} pipeline={pipeline} start={actions.start} />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
      <Suspense fallback={null}>
        {dialogsEver && (
          <PipelineDialogs actions={actions} deleted={() => void navigate(paths.pipelines(env))} />
        )}
      </Suspense>
    </Page>
  );
};

/** The component that is looked at, as the address holds it; empty for none. What was shown of another goes. */
function useComponent(): [string, (component: string) => void] {
  const [params, setParams] = useSearchParams();
  const set = (component: string): void =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        for (const key of ['component', 'beside', 'request']) next.delete(key);
        if (component) next.set('component', component);
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  return [params.get('component') ?? '', set];
}

/** The address may ask for the deploy dialog, so that other pages lead to it. */
function useActionsOf(pipeline: Pipeline): Actions {
  const [params, setParams] = useSearchParams();
  const { action, close, start } = usePipelineActions();
  const asked = params.get('deploy') === '1';
  return useMemo(() => {
    const forget = (): void => {
      close();
      if (!asked) return;
      setParams(
        (before) => {
          const next = new URLSearchParams(before);
          next.delete('deploy');
          return next;
        },
        { replace: true, preventScrollReset: true },
      );
    };
    const shown = action ?? (asked ? { kind: 'deploy' as const, pipelines: [pipeline] } : null);
    return { action: shown, close: forget, start };
  }, [action, asked, close, pipeline, setParams, start]);
}

/** Who changed it last and where it is written; the environment of the pipeline may differ from the address's. */
const CommitLine = ({ pipeline }: { pipeline: Pipeline }) => (
  <>
    {pipeline.commit ? (
      <span className="commit-line">
        <Commit sha={pipeline.commit} />
        <span>{pipeline.commitMessage}</span>
        <span className="muted nowrap">{pipeline.commitAuthor}</span>
      </span>
    ) : (
      <span className="muted">
        {pipeline.managedBy === 'git' ? 'Not applied from git yet' : 'Managed in the UI'}
      </span>
    )}
    <span className="muted">
      changed <Time at={pipeline.updatedAt} />
    </span>
    {pipeline.git && (
      <Link to={paths.git(pipeline.environmentId, { focus: pipeline.git.path })} className="mono">
        {pipeline.git.path}:{pipeline.git.line}
      </Link>
    )}
    <span>
      <span className="muted">nodes </span>
      {pipeline.nodeSelector && Object.keys(pipeline.nodeSelector).length > 0 ? (
        <Labels labels={pipeline.nodeSelector} />
      ) : (
        'all'
      )}
    </span>
    <span>
      <span className="muted">log level </span>
      <span className="mono">{pipeline.logLevel}</span>
    </span>
  </>
);
