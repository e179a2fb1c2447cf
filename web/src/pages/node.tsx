import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useParams } from 'react-router';
import type { FleetNode } from '../../../schemas/api/fleet.ts';
import type { PipelineOnNode } from '../../../schemas/api/pipelines.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { paths } from '../app/paths.ts';
import { Badge, Fact, HealthBadge, Labels, ShortId, Time } from '../components/bits.tsx';
import { nodeCause } from '../components/causes.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { formatBytes, formatBytesRate, formatDuration, formatPercent } from '../components/format.ts';
import { GateStrip } from '../components/gate-strip.tsx';
import { Page, Section } from '../components/page.tsx';
import { Loaded, SkeletonBlock } from '../components/states.tsx';
import { LogLines } from './node/log-lines.tsx';
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

const NodeView = ({ env, node, updatedAt }: { env: string; node: FleetNode; updatedAt: number }) => (
  <Page
    title={node.name}
    back={{ to: paths.fleet(env), word: 'Fleet' }}
    beside={
      <>
        <HealthBadge health={node.status} />
        {node.maintenance && <Badge tone="held">In maintenance</Badge>}
        {node.statusReason && <span className="muted">{node.statusReason}</span>}
      </>
    }
  >
    <section className="section" aria-label="Gate">
      <div className="section-body">
        <GateStrip gate={node.gate} of={node.name} causeOf={nodeCause(env, node.id)} size="large" />
      </div>
    </section>
    <div className="panel">
      <dl className="facts">
        <Fact name="Last heard">
          <Time at={node.lastHeartbeatAt} />
        </Fact>
        <Fact name="Pipelines running">
          <span className="mono">
            {node.pipelinesRunning}/{node.pipelinesDesired}
          </span>
        </Fact>
        <Fact name="Host">{node.host}</Fact>
        <Fact name="System">{node.os ?? 'unknown'}</Fact>
        <Fact name="Agent">
          <span className="mono">{node.agentVersion ?? 'unknown'}</span>
        </Fact>
        <Fact name="Engine">
          <span className="mono">{node.engineVersion ?? 'unknown'}</span>
        </Fact>
        <Fact name="Runs as">
          <span className="mono">{node.runningAs ?? 'unknown'}</span>
        </Fact>
        <Fact name="Enrolled">
          <Time at={node.enrolledAt} />
        </Fact>
        <Fact name="Id">
          <ShortId id={node.id} />
        </Fact>
        <Fact name="Labels">
          <Labels labels={node.labels} />
        </Fact>
      </dl>
    </div>
    <Section title="What it runs against what it should">
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
      <Section title="Host">
        <div className="section-body">
          <HostMeters node={node} updatedAt={updatedAt} />
        </div>
      </Section>
      <Section title="Agent">
        <div className="section-body">
          <AgentFacts health={node.agentHealth} />
        </div>
      </Section>
    </div>
    <Section title="Recent log lines">
      <LogLines lines={node.recentLogs} pipelines={node.pipelines} />
    </Section>
  </Page>
);

const Meter = ({ name, text, share }: { name: string; text: string; share: number | null }) => (
  <div className="meter">
    <span>
      {name} <span className="mono muted">{text}</span>
    </span>
    {share !== null && (
      // biome-ignore lint/a11y/useSemanticElements: browsers draw <meter> in their own ways and colours.
      <div
        className="meter-bar"
        role="meter"
        aria-label={name}
        aria-valuenow={Math.round(share * 100)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <span className="meter-fill" style={{ width: `${Math.min(share, 1) * 100}%` }} />
      </div>
    )}
  </div>
);

const share = (used: number | undefined, total: number | undefined): number | null =>
  used === undefined || !total ? null : used / total;

const used = (part: number | undefined, total: number | undefined): string =>
  part === undefined ? 'not reported' : `${formatBytes(part)}${total ? ` of ${formatBytes(total)}` : ''}`;

const HostMeters = ({ node, updatedAt }: { node: FleetNode; updatedAt: number }) => {
  const host = node.hostMetrics;
  const rates = useHostRates(node, updatedAt);
  if (Object.keys(host).length === 0)
    return <p className="muted">The agent has not reported its host yet.</p>;
  const load = [host.loadAvg1, host.loadAvg5, host.loadAvg15].filter((value) => value !== undefined);
  return (
    <div className="meters">
      <Meter
        name="Processor"
        text={rates.cpu === null ? 'measuring…' : formatPercent(rates.cpu)}
        share={rates.cpu ?? 0}
      />
      <Meter
        name="Memory"
        text={used(host.memoryUsedBytes, host.memoryTotalBytes)}
        share={share(host.memoryUsedBytes, host.memoryTotalBytes)}
      />
      <Meter
        name="Disk"
        text={used(host.fsUsedBytes, host.fsTotalBytes)}
        share={share(host.fsUsedBytes, host.fsTotalBytes)}
      />
      <Meter
        name="Load"
        text={load.length > 0 ? load.map((value) => value.toFixed(2)).join(' · ') : 'not reported'}
        share={null}
      />
      <Meter name="Network" text={rates.net} share={null} />
      <Meter name="Disk traffic" text={rates.disk} share={null} />
    </div>
  );
};

interface HostSample {
  at: number;
  host: FleetNode['hostMetrics'];
}

/** The host's counters only grow: two reports make a rate. A smaller one is a reboot. */
function useHostRates(node: FleetNode, updatedAt: number): { cpu: number | null; net: string; disk: string } {
  const before = useRef<HostSample | null>(null);
  const [rates, setRates] = useState<{ cpu: number | null; net: string; disk: string }>({
    cpu: null,
    net: 'measuring…',
    disk: 'measuring…',
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: one step for each report of the node.
  useEffect(() => {
    const host = node.hostMetrics;
    const at = node.lastHeartbeatAt?.getTime() ?? updatedAt;
    const last = before.current;
    if (last && at <= last.at) return;
    before.current = { at, host };
    if (!last) return;
    const seconds = (at - last.at) / 1000;
    const rate = (key: keyof FleetNode['hostMetrics']): number | null => {
      const now = host[key];
      const then = last.host[key];
      return now === undefined || then === undefined || now < then ? null : (now - then) / seconds;
    };
    const busy = rate('cpuSecondsTotal');
    const idle = rate('cpuSecondsIdle');
    const pair = (a: number | null, b: number | null, words: [string, string]): string =>
      a === null || b === null
        ? 'not reported'
        : `${formatBytesRate(a)} ${words[0]}, ${formatBytesRate(b)} ${words[1]}`;
    setRates({
      cpu: busy && idle !== null ? Math.max(0, 1 - idle / busy) : null,
      net: pair(rate('netRxBytes'), rate('netTxBytes'), ['in', 'out']),
      disk: pair(rate('diskReadBytes'), rate('diskWrittenBytes'), ['read', 'written']),
    });
  }, [node.lastHeartbeatAt, updatedAt]);
  return rates;
}

const AgentFacts = ({ health }: { health: FleetNode['agentHealth'] }) => {
  const count = (value: number | undefined) => <span className="mono">{value ?? 'not reported'}</span>;
  return (
    <dl className="facts">
      <Fact name="Push channel">
        {health.pushConnected === undefined ? (
          'not reported'
        ) : (
          <Badge tone={health.pushConnected ? 'ok' : 'held'}>
            {health.pushConnected ? 'Connected' : 'Polling only'}
          </Badge>
        )}
      </Fact>
      <Fact name="Up">
        {health.uptimeSeconds === undefined ? 'not reported' : formatDuration(health.uptimeSeconds)}
      </Fact>
      <Fact name="Poll errors">{count(health.pollErrorsTotal)}</Fact>
      <Fact name="Heartbeat errors">{count(health.heartbeatErrorsTotal)}</Fact>
      <Fact name="Push reconnects">{count(health.pushReconnectsTotal)}</Fact>
    </dl>
  );
};
