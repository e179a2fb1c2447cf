import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { PipelineOnNode } from '../../../../schemas/api/pipelines/on-nodes.ts';
import type { Pipeline } from '../../../../schemas/api/pipelines/pipelines.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { EmptyState } from '../../ui/feedback/page-states.tsx';
import { Labels } from '../../ui/primitives/labels.tsx';
import { HealthBadge, StatusBadge } from '../../ui/primitives/status-badge.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { useNow } from '../../ui/text/clock.ts';
import { formatDuration, formatRate, formatRelative } from '../../ui/text/format.ts';
import { VersionOnNode } from '../engine-reports/version-on-node.tsx';
import { CanaryBadge } from './rollout/rollout-nodes.tsx';

const STATUS_ORDER = { CRASHED: 0, STOPPED: 1, PENDING: 2, STARTING: 3, RUNNING: 4 } as const;

/** Rates that could not be read just now are muted: the column is too narrow to say since when. */
const RateCell = ({ rates }: { rates: PipelineOnNode['rates'] }) => {
  const now = useNow();
  return (
    <span
      className={rates.asOf ? 'mono muted' : 'mono'}
      data-tip={rates.asOf ? `as of ${formatRelative(rates.asOf, now)}` : undefined}
    >
      {formatRate(rates.eventsIn)}
    </span>
  );
};

/** The columns that a pipeline's nodes and a node's pipelines share. */
export const runColumns: Column<PipelineOnNode>[] = [
  {
    key: 'status',
    title: 'Status',
    width: '136px',
    sort: (row) => STATUS_ORDER[row.status],
    cell: (row) => (
      <StatusBadge
        status={row.status}
        tip={row.lastError ?? row.refused?.reason ?? row.degraded ?? undefined}
        old={row.nodeHealth === 'UNREACHABLE'}
      />
    ),
  },
  {
    key: 'version',
    title: 'Version',
    width: '116px',
    sort: (row) => row.version,
    cell: (row) => <VersionOnNode row={row} />,
  },
  {
    key: 'rate',
    title: 'Events in',
    width: '96px',
    align: 'end',
    priority: 2,
    sort: (row) => row.rates.eventsIn,
    cell: (row) => <RateCell rates={row.rates} />,
  },
  {
    key: 'pid',
    title: 'Process',
    width: '86px',
    align: 'end',
    priority: 3,
    cell: (row) =>
      row.pid === null ? <span className="muted">–</span> : <span className="mono">{row.pid}</span>,
  },
  {
    key: 'uptime',
    title: 'Up',
    width: '126px',
    align: 'end',
    priority: 3,
    sort: (row) => row.uptimeSeconds,
    cell: (row) =>
      row.uptimeSeconds === null ? <span className="muted">–</span> : formatDuration(row.uptimeSeconds),
  },
  {
    key: 'restarts',
    title: 'Restarts',
    width: '86px',
    align: 'end',
    priority: 2,
    sort: (row) => row.restarts,
    cell: (row) => <span className="mono">{row.restarts}</span>,
  },
  {
    key: 'error',
    title: 'Last error',
    priority: 2,
    cell: (row) =>
      row.lastError ? (
        <span className="mono tone-text" data-tone="failed" data-tip={row.lastError}>
          {row.lastError}
        </span>
      ) : row.refused ? (
        <span className="mono tone-text" data-tone="failed" data-tip={row.refused.reason}>
          v{row.refused.version}: {row.refused.reason}
        </span>
      ) : row.degraded ? (
        <span className="mono tone-text" data-tone="held" data-tip={row.degraded}>
          {row.degraded}
        </span>
      ) : (
        <span className="muted">none</span>
      ),
  },
];

export const PipelineNodes = ({ env, pipeline }: { env: string; pipeline: Pipeline }) => {
  const rollout = useQuery(queries.activeRollout(pipeline.id));
  const canary = new Set(
    rollout.data?.nodes.filter(({ stage }) => stage === 'canary').map(({ nodeId }) => nodeId),
  );
  if (pipeline.statuses.length === 0) {
    return (
      <EmptyState
        icon="fleet"
        title={pipeline.isDraft ? 'A draft runs nowhere' : 'No node takes this pipeline'}
      >
        {pipeline.isDraft ? (
          pipeline.managedBy === 'git' ? (
            <p>
              Set <code>deployed: true</code> in its manifest and push.
            </p>
          ) : (
            <p>
              <Link to={paths.pipeline(env, pipeline.id, { deploy: '1' })}>Deploy it</Link>, and every node
              that it is for runs it.
            </p>
          )
        ) : (
          <p>
            It wants nodes with <Labels labels={pipeline.nodeSelector ?? {}} />. Give a node these labels by{' '}
            <code>SVC_NODE_LABELS</code>, or change{' '}
            {pipeline.managedBy === 'git' ? (
              <>
                <code>nodeSelector</code> in the manifest
              </>
            ) : (
              <Link to={paths.pipeline(env, pipeline.id, { tab: 'settings' })}>its settings</Link>
            )}
            .
          </p>
        )}
      </EmptyState>
    );
  }
  const columns: Column<PipelineOnNode>[] = [
    {
      key: 'node',
      title: 'Node',
      width: '24%',
      sort: (row) => row.nodeName,
      cell: (row) =>
        canary.has(row.nodeId) ? (
          <span className="cell-line">
            {row.nodeName} <CanaryBadge />
          </span>
        ) : (
          row.nodeName
        ),
    },
    {
      key: 'health',
      title: 'Health',
      width: '132px',
      priority: 2,
      sort: (row) => row.nodeHealth,
      cell: (row) => <HealthBadge health={row.nodeHealth} />,
    },
    ...runColumns,
  ];
  return (
    <DataTable
      caption={`Nodes of ${pipeline.name}`}
      noun="node"
      rows={pipeline.statuses}
      columns={columns}
      rowKey={(row) => row.nodeId}
      rowHref={(row) => paths.node(env, row.nodeId)}
      defaultSort="status"
    />
  );
};
