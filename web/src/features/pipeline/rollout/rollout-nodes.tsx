import { useState } from 'react';
import type { Rollout } from '../../../../../schemas/api/delivery/rollouts.ts';
import { paths } from '../../../app/paths.ts';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { StatusBadge } from '../../../ui/primitives/status-badge.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { plural } from '../../../ui/text/format.ts';
import { VersionOnNode } from '../../engine-reports/version-on-node.tsx';

type OnNode = Rollout['nodes'][number];

export const CanaryBadge = () => (
  <Badge tone="moving" icon="playground" tip="It tries the new version before the others">
    canary
  </Badge>
);

const COLUMNS: Column<OnNode>[] = [
  { key: 'node', title: 'Node', sort: (row) => row.name, cell: (row) => row.name },
  {
    key: 'stage',
    title: 'Stage',
    width: '104px',
    sort: (row) => row.stage,
    cell: (row) => (row.stage === 'canary' ? <CanaryBadge /> : <span className="muted">after it</span>),
  },
  {
    key: 'version',
    title: 'Version',
    width: '116px',
    sort: (row) => row.version,
    cell: (row) => <VersionOnNode row={row} />,
  },
  {
    key: 'status',
    title: 'Status',
    width: '136px',
    priority: 2,
    cell: (row) =>
      row.desiredVersion === null && row.version === null ? (
        <span className="muted">nothing yet</span>
      ) : (
        <StatusBadge status={row.status} old={row.health === 'UNREACHABLE'} />
      ),
  },
];

/** The others are one click away: the page goes on below. */
const FIRST = 8;

/** What each node should run, and does. */
export const RolloutNodes = ({ env, nodes }: { env: string; nodes: readonly OnNode[] }) => {
  const [all, setAll] = useState(false);
  const rest = nodes.length - FIRST;
  return (
    <div className="rollout-nodes">
      <DataTable
        caption="Nodes by stage"
        noun="node"
        rows={all ? nodes : nodes.slice(0, FIRST)}
        columns={COLUMNS}
        rowKey={(row) => row.nodeId}
        rowHref={(row) => paths.node(env, row.nodeId)}
        defaultSort="stage"
        paramPrefix="rollout-"
      />
      {rest > 0 && (
        <Button size="small" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show ${plural(rest, 'more node', 'more nodes')}`}
        </Button>
      )}
    </div>
  );
};
