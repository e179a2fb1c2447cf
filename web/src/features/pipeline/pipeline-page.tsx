import { useQuery } from '@tanstack/react-query';
import { type ComponentType, Suspense, useEffect, useRef } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { useEver } from '../../app/lazy-mount.ts';
import { type PipelineTab, paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { InlineError, Loaded, SkeletonBlock, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { LazyLogViewer } from '../../ui/log/lazy-log-viewer.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Page, Section } from '../../ui/primitives/page.tsx';
import { PageTabs } from '../../ui/primitives/page-tabs.tsx';
import { AsOf } from '../../ui/primitives/time.tsx';
import { formatRate, plural } from '../../ui/text/format.ts';
import { AskWhy, AssistantProvider } from '../assistant/open-assistant.tsx';
import { Crashes } from '../engine-reports/crash-list.tsx';
import { EngineRemarks } from '../engine-reports/engine-notices.tsx';
import { ConditionList } from '../gate/condition-list.tsx';
import { pipelineCause } from '../gate/gate-cause.ts';
import { GateStrip } from '../gate/gate-strip.tsx';
import { pipelineStatus } from '../pipelines/pipeline-status.ts';
import { Refusals } from './deploy/deploy-errors.tsx';
import { KeptBack } from './deploy/suppressed-version.tsx';
import { PipelineNodes } from './nodes-tab.tsx';
import { PageActions } from './page-actions.tsx';
import { useActionsOf, useComponent } from './pipeline-search-params.ts';
import { RolloutPanel } from './rollout/rollout-panel.tsx';
import { SharedUpdates } from './shared-updates.tsx';
import { CommitLine } from './versions/commit-line.tsx';

const Graph = lazyPart(() => import('./graph.tsx'), 'Graph');
const Throughput = lazyPart(() => import('./throughput.tsx'), 'Throughput');
const ComponentPanel = lazyPart(() => import('./component-panel.tsx'), 'ComponentPanel');
const EventsTab = lazyPart(() => import('./events/events-tab.tsx'), 'EventsTab');
const MetricsTab = lazyPart(() => import('../metrics/pipeline-metrics-tab.tsx'), 'PipelineMetricsTab');
const VersionsTab = lazyPart(() => import('./versions/versions-tab.tsx'), 'VersionsTab');
const DependenciesTab = lazyPart(() => import('./dependencies/dependencies-tab.tsx'), 'DependenciesTab');
const SettingsTab = lazyPart(() => import('./pipeline-settings-tab.tsx'), 'SettingsTab');
const RolloutsTab = lazyPart(() => import('./rollout/rollouts-tab.tsx'), 'RolloutsTab');
const PromotionsTab = lazyPart(() => import('./promote/promotions-tab.tsx'), 'PromotionsTab');
const PipelineDialogs = lazyPart(
  () => import('../pipelines/actions/pipeline-dialogs.tsx'),
  'PipelineDialogs',
);
const ConfigTab = lazyPart(() => import('./config-tab.tsx'), 'ConfigTab');

interface TabProps {
  env: string;
  pipeline: Pipeline;
  start: ReturnType<typeof useActionsOf>['start'];
}

const LogsTab = ({ pipeline }: TabProps) => (
  <LazyLogViewer
    source={{ kind: 'pipeline', id: pipeline.id, environmentId: pipeline.environmentId }}
    choices={pipeline.statuses.map(({ nodeId, nodeName }) => ({ id: nodeId, name: nodeName }))}
    action={<AskWhy question="Why are there errors in the log?" />}
  />
);

const TABS: readonly { value: PipelineTab; word: string; Part: ComponentType<TabProps> }[] = [
  { value: 'nodes', word: 'Nodes', Part: PipelineNodes },
  { value: 'metrics', word: 'Metrics', Part: MetricsTab },
  { value: 'logs', word: 'Logs', Part: LogsTab },
  { value: 'events', word: 'Events', Part: EventsTab },
  { value: 'versions', word: 'Versions', Part: VersionsTab },
  { value: 'rollouts', word: 'Rollouts', Part: RolloutsTab },
  { value: 'promotions', word: 'Promotions', Part: PromotionsTab },
  { value: 'config', word: 'Config', Part: ConfigTab },
  { value: 'dependencies', word: 'Dependencies', Part: DependenciesTab },
  { value: 'settings', word: 'Settings', Part: SettingsTab },
];

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
  const hasFailed = rollout.failureCount + rollout.errorUpdateCount + pipeline.errorUpdateCount > 0;
  if (rollout.isPending && !hasFailed) return skeleton;
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
      {(data) => (
        <AssistantProvider key={data.id} pipeline={data}>
          <PipelineView env={environment.id} pipeline={data} />
        </AssistantProvider>
      )}
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
        action={<AskWhy question="Why does it crash?" />}
      />
      <EngineRemarks rows={pipeline.statuses} nameOf={(row) => row.nodeName} />
      <Refusals
        rows={pipeline.statuses}
        title={(count) =>
          `The newer version does not run on ${count} of ${plural(pipeline.statuses.length, 'node')}`
        }
        nameOf={(row) => row.nodeName}
        logHref={(row) => paths.pipeline(env, pipeline.id, { tab: 'logs', level: 'ERROR', node: row.nodeId })}
        action={<AskWhy question="Why does the newer version not run?" />}
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
      <Section
        title="Throughput of the last hour"
        beside={<Link to={paths.pipeline(env, pipeline.id, { tab: 'metrics' })}>All metrics</Link>}
      >
        <div className="section-body">
          <Suspense fallback={<SkeletonBlock height={188} label="Loading the chart" />}>
            <Throughput pipelineId={pipeline.id} />
          </Suspense>
        </div>
      </Section>
      <PageTabs
        ref={parts}
        label="Parts of the pipeline"
        value={tab}
        onChange={(next) =>
          void navigate(paths.pipeline(env, pipeline.id, { tab: next, component: component || undefined }), {
            replace: true,
            preventScrollReset: true,
          })
        }
        tabs={TABS.map(({ value, word, Part }) => ({
          value,
          word,
          render: () => <Part env={env} pipeline={pipeline} start={actions.start} />,
        }))}
      />
      <Suspense fallback={null}>
        {dialogsEver && (
          <PipelineDialogs actions={actions} deleted={() => void navigate(paths.pipelines(env))} />
        )}
      </Suspense>
    </Page>
  );
};
