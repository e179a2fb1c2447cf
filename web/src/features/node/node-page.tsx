import { useQuery } from '@tanstack/react-query';
import { Suspense, useRef, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import type { FleetNode } from '../../../../schemas/api/fleet/fleet.ts';
import type { PipelineOnNode } from '../../../../schemas/api/pipelines/on-nodes.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { useEver } from '../../app/lazy-mount.ts';
import { paths } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { Loaded, SkeletonBlock } from '../../ui/feedback/page-states.tsx';
import { LazyLogViewer } from '../../ui/log/lazy-log-viewer.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Page, Section } from '../../ui/primitives/page.tsx';
import { HealthBadge } from '../../ui/primitives/status-badge.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { plural } from '../../ui/text/format.ts';
import { Crashes } from '../engine-reports/crash-list.tsx';
import { EngineRemarks } from '../engine-reports/engine-notices.tsx';
import type { NodeAction, StartNodeAction } from '../fleet/nodes/node-actions.ts';
import { nodeCause } from '../gate/gate-cause.ts';
import { GateStrip } from '../gate/gate-strip.tsx';
import { Refusals } from '../pipeline/deploy/deploy-errors.tsx';
import { runColumns } from '../pipeline/nodes-tab.tsx';
import { AgentFacts } from './agent-facts.tsx';
import { AgentUpdates } from './agent-updates.tsx';
import { HostMeters } from './host-meters.tsx';
import { NodeBanner } from './node-banners.tsx';
import { NodeFacts } from './node-facts.tsx';
import { NodeMenu } from './node-menu.tsx';

const NodeMetrics = lazyPart(() => import('../metrics/node-metrics.tsx'), 'NodeMetrics');
const NodeDialogs = lazyPart(() => import('../fleet/nodes/node-dialogs.tsx'), 'NodeDialogs');

const columns: Column<PipelineOnNode>[] = [
  {
    key: 'pipeline',
    title: 'Pipeline',
    width: '26%',
    sort: (row) => row.pipelineName,
    cell: (row) => row.pipelineName,
  },
  ...runColumns,
  {
    key: 'ports',
    title: 'Ports',
    width: '108px',
    align: 'end',
    priority: 3,
    cell: (row) =>
      row.metricsPort === null || row.apiPort === null ? (
        <span className="muted">–</span>
      ) : (
        <span className="mono" data-tip="Metrics and API of the engine, on 127.0.0.1 of the node">
          {row.metricsPort}, {row.apiPort}
        </span>
      ),
  },
];

export const NodePage = () => {
  const { environment } = usePlace();
  const { nodeId = '' } = useParams();
  const node = useQuery(queries.node(nodeId));
  return (
    <Loaded
      query={node}
      what="This node"
      around={(error) => (
        <Page title="Node" back={{ to: paths.fleet(environment.id), word: 'Fleet' }}>
          {error}
        </Page>
      )}
      skeleton={
        <div className="page">
          <SkeletonBlock height={32} label="Loading the node" />
          <SkeletonBlock height={92} label="Loading its facts" />
          <SkeletonBlock height={300} label="Loading its pipelines" />
        </div>
      }
    >
      {(data) => <NodeView env={environment.id} node={data} updatedAt={node.dataUpdatedAt} />}
    </Loaded>
  );
};

const NodeView = ({ env, node, updatedAt }: { env: string; node: FleetNode; updatedAt: number }) => {
  const unheard = node.status === 'UNREACHABLE' || node.revoked;
  const { action, start, close } = useNodeDialog(node);
  const actedEver = useEver(action !== null);
  const navigate = useNavigate();
  return (
    <Page
      title={node.name}
      back={{ to: paths.fleet(env), word: 'Fleet' }}
      actions={<NodeMenu node={node} start={start} />}
      beside={
        <>
          {node.revoked ? <Badge tone="failed">Revoked</Badge> : <HealthBadge health={node.status} />}
          {node.maintenance && <Badge tone="held">In maintenance</Badge>}
          {node.statusReason && !unheard && <span className="muted">{node.statusReason}</span>}
        </>
      }
    >
      <NodeBanner env={env} node={node} />
      <Crashes
        rows={node.pipelines}
        title={(count) => `${plural(count, 'pipeline')} crashed here`}
        nameOf={(row) => row.pipelineName}
        logHref={(row) => paths.node(env, node.id, { level: 'ERROR', pipeline: row.pipelineId })}
      />
      <EngineRemarks rows={node.pipelines} nameOf={(row) => row.pipelineName} />
      <Refusals
        rows={node.pipelines}
        title={(count) => `The newer version of ${plural(count, 'pipeline')} does not run here`}
        nameOf={(row) => row.pipelineName}
        logHref={(row) => paths.node(env, node.id, { level: 'ERROR', pipeline: row.pipelineId })}
        nodeId={node.id}
      />
      <section className="section" aria-label="Gate">
        <div className="section-body">
          <GateStrip gate={node.gate} of={node.name} causeOf={nodeCause(env, node.id)} size="large" />
        </div>
      </section>
      <NodeFacts env={env} node={node} />
      <Section
        title={
          unheard
            ? 'What it ran when last heard, against what it should'
            : 'What it runs against what it should'
        }
      >
        <DataTable
          caption={`Pipelines on ${node.name}`}
          noun="pipeline"
          rows={node.pipelines}
          columns={columns}
          rowKey={(row) => row.pipelineId}
          rowHref={(row) => paths.pipeline(env, row.pipelineId)}
          defaultSort="status"
        />
      </Section>
      <div className="columns">
        <Section title={unheard ? 'Host when last heard' : 'Host'}>
          <div className="section-body">
            <HostMeters node={node} updatedAt={updatedAt} />
          </div>
        </Section>
        <Section title={unheard ? 'Agent when last heard' : 'Agent'}>
          <div className="section-body">
            <AgentFacts health={node.agentHealth} unheard={unheard} />
            <AgentUpdates node={node} />
          </div>
        </Section>
      </div>
      <Suspense fallback={<SkeletonBlock height={760} label="Loading its metrics" />}>
        <NodeMetrics nodeId={node.id} />
      </Suspense>
      <Section title="Logs">
        <LazyLogViewer
          source={{ kind: 'node', id: node.id, environmentId: node.environmentId }}
          choices={node.pipelines.map(({ pipelineId, pipelineName }) => ({
            id: pipelineId,
            name: pipelineName,
          }))}
        />
      </Section>
      <Suspense fallback={null}>
        {actedEver && (
          <NodeDialogs action={action} close={close} deleted={() => void navigate(paths.fleet(env))} />
        )}
      </Suspense>
    </Page>
  );
};

/** The dialog that is open: by a button here, or by the address. */
function useNodeDialog(node: FleetNode): {
  action: NodeAction | null;
  start: StartNodeAction;
  close: () => void;
} {
  const { team } = usePlace();
  const [asked, setAsked] = useAddressParam('do', { replace: true });
  const [chosen, setChosen] = useState<NodeAction | null>(null);
  // What it asks for when it opens: the node changes while the dialog is there.
  const byAddress = useRef<NodeAction | null>(null);
  if (asked !== 'maintenance' || whyNot(team.role, 'EDITOR') !== null) byAddress.current = null;
  else byAddress.current ??= { kind: node.maintenance ? 'release' : 'maintain', nodes: [node] };
  return {
    action: chosen ?? byAddress.current,
    start: (kind, nodes) => setChosen({ kind, nodes }),
    close: () => {
      setChosen(null);
      if (asked) setAsked('');
    },
  };
}
