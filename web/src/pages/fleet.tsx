import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import type { NodeSummary } from '../../../schemas/api/fleet.ts';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { paths } from '../app/paths.ts';
import { Badge, HealthBadge, Labels, Time } from '../components/bits.tsx';
import { nodeCause } from '../components/causes.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { GateStrip } from '../components/gate-strip.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { Segmented } from '../components/segmented.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../components/states.tsx';
import { EnrollDialog } from './fleet/enroll.tsx';
import { FleetMatrix } from './fleet/matrix.tsx';

const HEALTH_ORDER = { UNREACHABLE: 0, DEGRADED: 1, UNKNOWN: 2, HEALTHY: 3 } as const;

const columns = (env: string): Column<NodeSummary>[] => [
  { key: 'name', title: 'Name', sort: (row) => row.name, cell: (row) => row.name },
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
    width: '372px',
    priority: 2,
    cell: (row) => <GateStrip gate={row.gate} of={row.name} causeOf={nodeCause(env, row.id)} />,
  },
  {
    key: 'reason',
    title: 'Why',
    width: '14%',
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
    width: '104px',
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
    width: '15%',
    priority: 3,
    cell: (row) => <Labels labels={row.labels} limit={1} />,
  },
  {
    key: 'agent',
    title: 'Agent',
    width: '92px',
    priority: 3,
    sort: (row) => row.agentVersion,
    cell: (row) => <span className="mono">{row.agentVersion ?? '–'}</span>,
  },
  {
    key: 'heard',
    title: 'Heard',
    width: '98px',
    align: 'end',
    priority: 2,
    sort: (row) => row.lastHeartbeatAt?.getTime() ?? null,
    cell: (row) => <Time at={row.lastHeartbeatAt} />,
  },
];

const VIEWS = [
  { value: 'table', word: 'Table' },
  { value: 'matrix', word: 'Matrix' },
] as const;

const HEALTHS = [
  { value: '', word: 'All' },
  { value: 'HEALTHY', word: 'Healthy' },
  { value: 'DEGRADED', word: 'Degraded' },
  { value: 'UNREACHABLE', word: 'Unreachable' },
] as const;

const searchText = (row: NodeSummary): string =>
  [row.name, row.host, row.os, ...Object.entries(row.labels).map(([key, value]) => `${key}=${value}`)].join(
    ' ',
  );

export const FleetPage = () => {
  const { environment, team } = usePlace();
  const [params, setParams] = useSearchParams();
  const [enrolling, setEnrolling] = useState(false);
  const tableColumns = useMemo(() => columns(environment.id), [environment.id]);
  const nodes = useQuery(queries.nodes(environment.id));
  const view = params.get('view') === 'matrix' ? 'matrix' : 'table';
  const health = params.get('health') ?? '';
  const set = (key: string, value: string): void =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      if (value) next.set(key, value);
      else next.delete(key);
      return next;
    });
  const enroll = (
    <button
      type="button"
      className="button"
      data-kind="primary"
      disabled={team.role === 'VIEWER'}
      data-tip={team.role === 'VIEWER' ? 'Viewers cannot enroll nodes' : undefined}
      onClick={() => setEnrolling(true)}
    >
      <Icon name="plus" /> Enroll a node
    </button>
  );
  return (
    <Page
      title="Fleet"
      actions={
        nodes.data?.length !== 0 && (
          <>
            <Segmented
              label="View"
              value={view}
              options={VIEWS}
              onChange={(value) => set('view', value === 'table' ? '' : value)}
            />
            {enroll}
          </>
        )
      }
    >
      <Loaded query={nodes} what="Nodes" skeleton={<SkeletonRows rows={12} label="Loading nodes" />}>
        {(list) => {
          if (list.length === 0) {
            return (
              <EmptyState icon="fleet" title="No nodes yet">
                <p>
                  A node is a machine that runs the agent. Make an enrollment token; the dialog gives you the
                  exact lines to paste into the machine’s terminal.
                </p>
                {enroll}
              </EmptyState>
            );
          }
          if (view === 'matrix') return <FleetMatrix environmentId={environment.id} />;
          return (
            <DataTable
              caption="Nodes"
              noun="node"
              rows={health ? list.filter(({ status }) => status === health) : list}
              columns={tableColumns}
              rowKey={(row) => row.id}
              rowHref={(row) => paths.node(environment.id, row.id)}
              filterText={searchText}
              defaultSort="name"
              toolbar={
                <Segmented
                  label="Health"
                  value={health}
                  options={HEALTHS}
                  onChange={(value) => set('health', value)}
                />
              }
            />
          );
        }}
      </Loaded>
      <EnrollDialog environmentId={environment.id} opened={enrolling} close={() => setEnrolling(false)} />
    </Page>
  );
};
