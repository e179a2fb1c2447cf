import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { NodeSummary } from '../../../../schemas/api/fleet.ts';
import { paths } from '../../app/paths.ts';
import { Badge, HealthBadge, Labels } from '../../components/bits.tsx';
import { nodeCause } from '../../components/causes.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { GateStrip } from '../../components/gate-strip.tsx';
import { momentColumn } from '../../components/moment-column.tsx';
import { Segmented } from '../../components/segmented.tsx';

export const HEALTH_ORDER = { UNREACHABLE: 0, DEGRADED: 1, UNKNOWN: 2, HEALTHY: 3 } as const;

const columns = (env: string): Column<NodeSummary>[] => [
  { key: 'name', title: 'Name', width: '12%', sort: (row) => row.name, cell: (row) => row.name },
  {
    key: 'health',
    title: 'Health',
    width: '128px',
    sort: (row) => HEALTH_ORDER[row.status],
    cell: (row) => <HealthBadge health={row.status} reason={row.statusReason} />,
  },
  {
    key: 'gate',
    title: 'git → accepted → delivered → running',
    width: '360px',
    priority: 2,
    cell: (row) => <GateStrip gate={row.gate} of={row.name} causeOf={nodeCause(env, row.id)} />,
  },
  {
    key: 'reason',
    title: 'Why',
    priority: 3,
    cell: (row) => (
      <span className="muted" data-tip={row.statusReason || undefined}>
        {row.maintenance ? 'In maintenance. ' : ''}
        {row.statusReason}
      </span>
    ),
  },
  {
    key: 'pipelines',
    title: 'Pipelines',
    width: '88px',
    sort: (row) => (row.pipelinesDesired === 0 ? null : row.pipelinesRunning / row.pipelinesDesired),
    cell: (row) => {
      const whole = row.pipelinesRunning === row.pipelinesDesired;
      return (
        <Badge
          tone={row.pipelinesCrashed > 0 ? 'failed' : whole ? 'ok' : 'moving'}
          tip={row.pipelinesCrashed > 0 ? `${row.pipelinesCrashed} crashed` : undefined}
        >
          {row.pipelinesRunning}/{row.pipelinesDesired}
        </Badge>
      );
    },
  },
  {
    key: 'labels',
    title: 'Labels',
    width: '12%',
    priority: 3,
    cell: (row) => <Labels labels={row.labels} limit={1} />,
  },
  {
    key: 'agent',
    title: 'Agent',
    width: '76px',
    priority: 3,
    sort: (row) => row.agentVersion,
    cell: (row) => <span className="mono">{row.agentVersion ?? '–'}</span>,
  },
  momentColumn({
    key: 'heard',
    title: 'Heard',
    width: '94px',
    priority: 2,
    at: (row) => row.lastHeartbeatAt,
  }),
];

export const HEALTHS = [
  { value: '', word: 'All' },
  { value: 'HEALTHY', word: 'Healthy' },
  { value: 'DEGRADED', word: 'Degraded' },
  { value: 'UNREACHABLE', word: 'Unreachable' },
  { value: 'UNKNOWN', word: 'Never heard' },
] as const;

const searchText = (row: NodeSummary): string =>
  [row.name, row.host, row.os, ...Object.entries(row.labels).map(([key, value]) => `${key}=${value}`)].join(
    ' ',
  );

export const NodeTable = ({ env, nodes }: { env: string; nodes: readonly NodeSummary[] }) => {
  const [params, setParams] = useSearchParams();
  const tableColumns = useMemo(() => columns(env), [env]);
  const health = params.get('health') ?? '';
  return (
    <DataTable
      caption="Nodes"
      noun="node"
      rows={health ? nodes.filter(({ status }) => status === health) : nodes}
      columns={tableColumns}
      rowKey={(row) => row.id}
      rowHref={(row) => paths.node(env, row.id)}
      filterText={searchText}
      defaultSort="name"
      remember="nodes"
      toolbar={
        <Segmented
          label="Health"
          value={health}
          options={HEALTHS}
          onChange={(value) =>
            setParams((before) => {
              const next = new URLSearchParams(before);
              if (value) next.set('health', value);
              else next.delete('health');
              return next;
            })
          }
        />
      }
    />
  );
};
