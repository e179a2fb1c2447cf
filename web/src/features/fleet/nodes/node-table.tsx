import { Checkbox } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { NodeSummary } from '../../../../../schemas/api/fleet/fleet.ts';
import { paths } from '../../../app/paths.ts';
import { useAddressParam } from '../../../app/search-params.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Labels } from '../../../ui/primitives/labels.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { HealthBadge } from '../../../ui/primitives/status-badge.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { nodeCause } from '../../gate/gate-cause.ts';
import { GateStrip } from '../../gate/gate-strip.tsx';
import { RecentRate } from '../../metrics/recent-rate.tsx';
import type { StartNodeAction } from './node-actions.ts';
import { NodeBulk } from './node-bulk-actions.tsx';
import { useNodeFilters } from './node-filters.tsx';

export const HEALTH_ORDER = { UNREACHABLE: 0, DEGRADED: 1, UNKNOWN: 2, HEALTHY: 3 } as const;

const columns = (env: string): Column<NodeSummary>[] => [
  { key: 'name', title: 'Name', width: '12%', sort: (row) => row.name, cell: (row) => row.name },
  {
    key: 'health',
    title: 'Health',
    width: '144px',
    sort: (row) => HEALTH_ORDER[row.status],
    cell: (row) =>
      row.archivedAt !== null ? (
        <Badge
          tone="unknown"
          tip="It was silent for long, and counts nowhere. It comes back with its agent’s next call."
        >
          Archived
        </Badge>
      ) : row.revoked ? (
        <Badge tone="failed" tip={row.statusReason || undefined}>
          Revoked
        </Badge>
      ) : (
        <HealthBadge health={row.status} reason={row.statusReason} />
      ),
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
      <span
        className="muted"
        data-tip={[row.statusReason, row.engineProblem].filter(Boolean).join('. ') || undefined}
      >
        {row.archivedAt !== null && (
          <>
            Archived since <Time at={row.archivedAt} />.{' '}
          </>
        )}
        {row.maintenance ? 'In maintenance. ' : ''}
        {row.engineProblem !== null && (
          <>
            <Badge tone="held">Engine</Badge>{' '}
          </>
        )}
        {[row.statusReason, row.engineProblem].filter(Boolean).join('. ')}
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
    key: 'events',
    title: 'Last hour',
    width: '96px',
    priority: 3,
    cell: (row) => <RecentRate environmentId={env} of={{ nodeId: row.id }} />,
  },
  {
    key: 'labels',
    title: 'Labels',
    width: '9%',
    priority: 3,
    cell: (row) => <Labels labels={row.labels} limit={1} />,
  },
  {
    key: 'agent',
    title: 'Agent',
    width: '112px',
    priority: 3,
    sort: (row) => row.agentVersion,
    cell: (row) => <AgentCell node={row} />,
  },
  momentColumn({
    key: 'heard',
    title: 'Heard',
    width: '94px',
    priority: 2,
    at: (row) => row.lastHeartbeatAt,
  }),
];

const AgentCell = ({ node: { agentVersion, updateTo, channel } }: { node: NodeSummary }) =>
  updateTo ? (
    <Badge tone="moving" tip={`The agent is being brought from ${agentVersion ?? 'unknown'} to ${updateTo}`}>
      {updateTo}
    </Badge>
  ) : (
    <span className="mono" data-tip={channel === 'dev' ? 'It follows the channel dev' : undefined}>
      {agentVersion ?? '–'}
      {channel === 'dev' && !agentVersion?.startsWith('dev-') ? ' (dev)' : ''}
    </span>
  );

export const HEALTHS = [
  { value: '', word: 'All' },
  { value: 'HEALTHY', word: 'Healthy' },
  { value: 'DEGRADED', word: 'Degraded' },
  { value: 'UNREACHABLE', word: 'Unreachable' },
  { value: 'UNKNOWN', word: 'Never heard' },
] as const;

const searchText = (row: NodeSummary): string =>
  [
    row.name,
    row.host,
    row.os,
    row.agentVersion,
    ...Object.entries(row.labels).map(([key, value]) => `${key}=${value}`),
  ].join(' ');

interface Props {
  env: string;
  nodes: readonly NodeSummary[];
  /** Archived ones are among them. */
  archived: boolean;
  showArchived: (show: boolean) => void;
  start: StartNodeAction;
}

export const NodeTable = ({ env, nodes, archived, showArchived, start }: Props) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { shown, filters } = useNodeFilters(nodes);
  const tableColumns = useMemo(() => columns(env), [env]);
  const [health, setHealth] = useAddressParam('health');
  return (
    <DataTable
      caption="Nodes"
      noun="node"
      rows={health ? shown.filter(({ status }) => status === health) : shown}
      columns={tableColumns}
      rowKey={(row) => row.id}
      rowHref={(row) => paths.node(env, row.id)}
      filterText={searchText}
      defaultSort="name"
      remember="nodes"
      selection={{
        chosen,
        change: setChosen,
        nameOf: (row) => row.name,
        actions: (rows) => <NodeBulk nodes={rows} start={start} />,
      }}
      toolbar={
        <>
          <SegmentedControl label="Health" value={health} options={HEALTHS} onChange={setHealth} />
          {filters}
          <Checkbox
            checked={archived}
            onChange={(event) => showArchived(event.target.checked)}
            label="Show archived"
          />
        </>
      }
    />
  );
};
