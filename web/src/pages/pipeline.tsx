import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useNavigate, useParams, useSearchParams } from 'react-router';
import type { Pipeline } from '../../../schemas/api/pipelines.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { useEver } from '../app/ever.ts';
import { type PipelineTab, paths } from '../app/paths.ts';
import { AsOf, Badge } from '../components/bits.tsx';
import { pipelineCause } from '../components/causes.ts';
import { ConditionList } from '../components/condition-list.tsx';
import { Crashes } from '../components/crashes.tsx';
import { EngineRemarks } from '../components/engine-remarks.tsx';
import { formatRate, plural } from '../components/format.ts';
import { GateStrip } from '../components/gate-strip.tsx';
import { LazyLogViewer } from '../components/logs/lazy-log-viewer.tsx';
import { Page, Section } from '../components/page.tsx';
import { InlineError, Loaded, SkeletonBlock, SkeletonRows } from '../components/states.tsx';
import { CommitLine } from './pipeline/commit-line.tsx';
import { useActionsOf, useComponent } from './pipeline/in-address.ts';
import { KeptBack } from './pipeline/kept-back.tsx';
import { PipelineNodes } from './pipeline/nodes-tab.tsx';
import { PageActions } from './pipeline/page-actions.tsx';
import { Refusals } from './pipeline/refusals.tsx';
import { RolloutPanel } from './pipeline/rollout/rollout-panel.tsx';
import { SharedUpdates } from './pipeline/shared-updates.tsx';
import { pipelineStatus } from './pipeline-status.ts';

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
const RolloutsTab = lazy(() =>
  import('./pipeline/rollout/rollouts-tab.tsx').then((module) => ({ default: module.RolloutsTab })),
);
const PromotionsTab = lazy(() =>
  import('./pipeline/promote/promotions-tab.tsx').then((module) => ({ default: module.PromotionsTab })),
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
  { value: 'rollouts', word: 'Rollouts' },
  { value: 'promotions', word: 'Promotions' },
  { value: 'config', word: 'Config' },
  { value: 'dependencies', word: 'Dependencies' },
  { value: 'settings', word: 'Settings' },
];

/** Those that come when they are looked at. */
const PARTS = [
  { value: 'events', Part: EventsTab },
  { value: 'versions', Part: VersionsTab },
  { value: 'rollouts', Part: RolloutsTab },
  { value: 'promotions', Part: PromotionsTab },
  { value: 'dependencies', Part: DependenciesTab },
  { value: 'settings', Part: SettingsTab },
] as const;

export const PipelinePage = () => {
  const { environment } = usePlace();
  const { pipelineId = '' } = useParams();
  const pipeline = useQuery(queries.pipeline(pipelineId));
  const rollout = useQuery(queries.activeRollout(pipelineId));
  const skeleton = (
    <div className="page">
      <SkeletonBlock height={32} label="Loading the pipeline" />
      <SkeletonBlock height={330} label="Loading the gate" />
      <SkeletonBlock height={380} label="Loading the graph" />
    </div>
  );
  // A rollout stands in the middle of the page: it comes with it, unless it does not come at all.
  if (rollout.isPending && rollout.failureCount === 0 && !pipeline.isError) return skeleton;
  return (
    <Loaded
      query={pipeline}
      what="This pipeline"
      around={(error) => (
        <Page title="Pipeline" back={{ to: paths.pipelines(environment.id), word: 'Pipelines' }}>
          {error}
        </Page>
      )}
      skeleton={skeleton}
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
  const rollout = useQuery(queries.activeRollout(pipeline.id));
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
      <EngineRemarks rows={pipeline.statuses} nameOf={(row) => row.nodeName} />
      <Refusals
        rows={pipeline.statuses}
        title={(count) =>
          `The newer version does not run on ${count} of ${plural(pipeline.statuses.length, 'node')}`
        }
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
      {rollout.data && (
        <RolloutPanel key={rollout.data.id} env={env} pipeline={pipeline} rollout={rollout.data} />
      )}
      {rollout.isError && !rollout.data && <InlineError error={rollout.error} />}
      <Section
        title="Graph"
        beside={
          <span className="muted mono">
            {formatRate(pipeline.rates.eventsIn)} in, {formatRate(pipeline.rates.eventsOut)} out,{' '}
            {formatRate(pipeline.rates.errors)} errors
            <AsOf rates={pipeline.rates} />
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
        <Suspense fallback={<SkeletonRows rows={6} />}>
          <Tabs.Panel value="config">
            <ConfigTab pipelineId={pipeline.id} />
          </Tabs.Panel>
          {PARTS.map(({ value, Part }) => (
            <Tabs.Panel key={value} value={value}>
              <Part env={env} pipeline={pipeline} start={actions.start} />
            </Tabs.Panel>
          ))}
        </Suspense>
      </Tabs>
      <Suspense fallback={null}>
        {dialogsEver && (
          <PipelineDialogs actions={actions} deleted={() => void navigate(paths.pipelines(env))} />
        )}
      </Suspense>
    </Page>
  );
};
