import { useQuery } from '@tanstack/react-query';
import type { GroupHealth, NodeGroup } from '../../../../../schemas/api/fleet/node-groups.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { type Count, CountBar } from '../../../ui/primitives/count-bar.tsx';
import { Labels } from '../../../ui/primitives/labels.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { plural } from '../../../ui/text/format.ts';
import { ManifestProblems, OwnedActions, OwnerCell, problemOf } from '../../ownership/manifest-owner.tsx';
import type { GroupAction } from './group-dialogs.tsx';

/** Null for the nodes that belong to no group. */
export interface GroupRow {
  group: NodeGroup | null;
  health: GroupHealth;
}

/** Nodes by health, each number leading to those nodes of the group. */
export function groupCounts(env: string, health: GroupHealth): Count[] {
  const href = (status: string): string => paths.group(env, health.key, { health: status });
  return [
    { tone: 'ok', word: 'healthy', count: health.healthy, href: href('HEALTHY') },
    { tone: 'held', word: 'degraded', count: health.degraded, href: href('DEGRADED') },
    { tone: 'failed', word: 'unreachable', count: health.unreachable, href: href('UNREACHABLE') },
    { tone: 'unknown', word: 'never heard', count: health.unknown, href: href('UNKNOWN') },
  ];
}

const columns = (
  env: string,
  mayNot: string | null,
  act: (action: GroupAction) => void,
): Column<GroupRow>[] => [
  {
    key: 'name',
    title: 'Name',
    width: '12%',
    sort: ({ group }) => group?.name ?? null,
    cell: ({ group }) => group?.name ?? 'In no group',
  },
  {
    key: 'nodes',
    title: 'Nodes by health',
    sort: ({ health }) => health.total,
    cell: ({ group, health }) => (
      <CountBar
        label={`Nodes of ${group?.name ?? 'no group'} by health`}
        counts={groupCounts(env, health)}
        size="row"
      />
    ),
  },
  {
    key: 'criteria',
    title: 'Nodes with',
    width: '11%',
    priority: 2,
    cell: ({ group }) =>
      group ? <Criteria labels={group.criteria} limit={2} /> : <span className="muted">none of these</span>,
  },
  {
    key: 'gives',
    title: 'Gives',
    width: '11%',
    priority: 2,
    cell: ({ group }) => group && <Labels labels={group.labelTemplate} limit={2} />,
  },
  {
    key: 'requires',
    title: 'Requires',
    width: '9%',
    priority: 3,
    cell: ({ group }) => group && <LabelKeys keys={group.requiredLabels} />,
  },
  {
    key: 'missing',
    title: 'Lack a label',
    width: '104px',
    priority: 2,
    sort: ({ health }) => health.missingLabels,
    cell: ({ health }) =>
      health.missingLabels > 0 ? (
        <Badge tone="held">{plural(health.missingLabels, 'node')}</Badge>
      ) : (
        <span className="muted">none</span>
      ),
  },
  {
    key: 'owner',
    title: 'Owner',
    width: '11%',
    priority: 3,
    sort: ({ group }) => group?.git?.path ?? null,
    cell: ({ group }) =>
      group && (
        <>
          {problemOf(group) && <Badge tone="failed">{problemOf(group)?.reason}</Badge>}
          <OwnerCell env={env} owned={group} short />
        </>
      ),
  },
  {
    key: 'actions',
    title: 'Actions',
    width: '88px',
    align: 'end',
    cell: ({ group }) =>
      group && (
        <OwnedActions
          env={env}
          owned={group}
          mayNot={mayNot}
          change={() => act({ kind: 'change', group })}
          remove={() => act({ kind: 'delete', group })}
        />
      ),
  },
];

/** No criteria at all are met by every node. */
export const Criteria = ({ labels, limit }: { labels: NodeGroup['criteria']; limit?: number }) =>
  Object.keys(labels).length === 0 ? 'every node' : <Labels labels={labels} limit={limit} />;

/** Keys of labels, without values. */
export const LabelKeys = ({ keys }: { keys: readonly string[] }) =>
  keys.length === 0 ? (
    <span className="muted">none</span>
  ) : (
    <span className="labels">
      {keys.map((key) => (
        <span key={key} className="label mono">
          {key}
        </span>
      ))}
    </span>
  );

/** Every group with what it asks for, what it gives and how its nodes are. */
export const FleetGroups = ({
  environmentId: env,
  act,
}: {
  environmentId: string;
  act: (action: GroupAction) => void;
}) => {
  const groups = useQuery(queries.nodeGroups(env));
  const health = useQuery(queries.groupHealth(env));
  const skeleton = <SkeletonRows rows={8} label="Loading groups" />;
  return (
    <>
      <ManifestProblems environmentId={env} kind="NodeGroup" owned={groups.data ?? []} />
      <Loaded query={groups} what="Groups" skeleton={skeleton}>
        {(list) => (
          <Loaded query={health} what="The health of the groups" skeleton={skeleton}>
            {(stats) => <GroupTable env={env} groups={list} stats={stats} act={act} />}
          </Loaded>
        )}
      </Loaded>
    </>
  );
};

interface TableProps {
  env: string;
  groups: readonly NodeGroup[];
  stats: readonly GroupHealth[];
  act: (action: GroupAction) => void;
}

const GroupTable = ({ env, groups, stats, act }: TableProps) => {
  const { team } = usePlace();
  if (groups.length === 0) return <NoGroups env={env} />;
  const byId = new Map(groups.map((group) => [group.id, group]));
  return (
    <DataTable
      caption="Groups"
      noun="group"
      rows={stats.map((health) => ({ group: byId.get(health.key) ?? null, health }))}
      columns={columns(env, whyNot(team.role, 'ADMIN'), act)}
      rowKey={({ health }) => health.key}
      rowHref={({ health }) => paths.group(env, health.key)}
      filterText={({ group }) => [group?.name, ...labelText(group)].join(' ')}
      defaultSort="name"
      remember="groups"
    />
  );
};

const labelText = (group: NodeGroup | null): string[] =>
  Object.entries({ ...group?.criteria, ...group?.labelTemplate }).map(([key, value]) => `${key}=${value}`);

const NoGroups = ({ env }: { env: string }) => {
  const git = useQuery(queries.git(env));
  const folder = git.data?.path || 'environments/staging';
  return (
    <EmptyState icon="fleet" title="No groups yet">
      <p>
        A group is a set of nodes by their labels. It gives them labels, says which ones they must have, and
        counts their health. Make one by the button above, or push it as a manifest.
      </p>
      <CommandBlock
        label="commands that push a first group"
        lines={[
          `git clone ${git.data?.cloneUrl ?? '<address from the Git page>'} config && cd config`,
          `mkdir -p ${folder}/groups`,
          `cat > ${folder}/groups/edge.yaml <<'YAML'`,
          'apiVersion: headgate/v1',
          'kind: NodeGroup',
          'metadata: { name: edge }',
          'spec:',
          '  criteria: { role: edge }',
          '  labelTemplate: { tier: outer }',
          '  requiredLabels: [region]',
          'YAML',
          "git add . && git commit -m 'Add a node group' && git push",
        ]}
      />
    </EmptyState>
  );
};
