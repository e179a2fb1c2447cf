import { useQuery } from '@tanstack/react-query';
import { useParams } from 'react-router';
import type { FleetNode } from '../../../schemas/api/fleet.ts';
import type { PipelineOnNode } from '../../../schemas/api/pipelines.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { paths } from '../app/paths.ts';
import { Banner } from '../components/banner.tsx';
import { Badge, HealthBadge, Time } from '../components/bits.tsx';
import { nodeCause } from '../components/causes.ts';
import { Crashes } from '../components/crashes.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { plural } from '../components/format.ts';
import { GateStrip } from '../components/gate-strip.tsx';
import { LazyLogViewer } from '../components/logs/lazy-log-viewer.tsx';
import { Page, Section } from '../components/page.tsx';
import { Loaded, SkeletonBlock } from '../components/states.tsx';
import { AgentFacts } from './node/agent-facts.tsx';
import { HostMeters } from './node/host-meters.tsx';
import { NodeFacts } from './node/node-facts.tsx';
import { runColumns } from './pipeline/nodes-tab.tsx';

const columns: Column<PipelineOnNode>[] = [
  {
    key: 'pipeline',
    title: 'Pipeline',
    width: '26%',
    sort: (row) => row.pipelineName,
    cell: (row) => row.pipelineName,
  },
  ...runColumns,
];

export const NodePage = () => {
  const { environment } = usePlace();
  const { nodeId = '' } = useParams();
  const node = useQuery(queries.node(nodeId));
  return (
    <Loaded
      query={node}
      what="This node"
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
  const unheard = node.status === 'UNREACHABLE';
  return (
    <Page
      title={node.name}
      back={{ to: paths.fleet(env), word: 'Fleet' }}
      beside={
        <>
          <HealthBadge health={node.status} />
          {node.maintenance && <Badge tone="held">In maintenance</Badge>}
          {node.statusReason && !unheard && <span className="muted">{node.statusReason}</span>}
        </>
      }
    >
      {unheard && <Unheard node={node} />}
      <Crashes
        rows={node.pipelines}
        title={(count) => `${plural(count, 'pipeline')} crashed here`}
        nameOf={(row) => row.pipelineName}
        logHref={(row) => paths.node(env, node.id, { level: 'ERROR', pipeline: row.pipelineId })}
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
          </div>
        </Section>
      </div>
      <Section title="Logs">
        <LazyLogViewer
          source={{ kind: 'node', id: node.id, environmentId: node.environmentId }}
          choices={node.pipelines.map(({ pipelineId, pipelineName }) => ({
            id: pipelineId,
            name: pipelineName,
          }))}
        />
      </Section>
    </Page>
  );
};

/** An agent that is silent says nothing about its engines. */
const Unheard = ({ node }: { node: FleetNode }) => (
  <Banner
    tone="failed"
    title={
      <>
        Last heard <Time at={node.lastHeartbeatAt} />
      </>
    }
  >
    <p>
      What it ran then is shown below. Its engines may well run on: they do so without the agent’s reports,
      and the agent without the controller.
    </p>
    <p>
      On the machine {node.host}, look whether <code>headgate-agent</code> runs and reaches{' '}
      <code>{window.location.origin}</code>; its own log says what fails.
    </p>
  </Banner>
);
