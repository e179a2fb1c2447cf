import { useQuery } from '@tanstack/react-query';
import { Suspense, useMemo, useState } from 'react';
import { useNavigate, useParams } from 'react-router';
import type { GroupHealth, NodeGroup, NodeInGroup } from '../../../../schemas/api/fleet/node-groups.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { useEver } from '../../app/lazy-mount.ts';
import { paths, UNGROUPED } from '../../app/paths.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { useLoadError } from '../../ui/feedback/load-error.ts';
import {
  EmptyState,
  ErrorState,
  Loaded,
  SkeletonBlock,
  SkeletonRows,
} from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { ShortId } from '../../ui/primitives/copyable.tsx';
import { CountBar } from '../../ui/primitives/count-bar.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';
import { Labels } from '../../ui/primitives/labels.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { HealthBadge } from '../../ui/primitives/status-badge.tsx';
import { Time } from '../../ui/primitives/time.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import type { GroupAction } from '../fleet/groups/group-dialogs.tsx';
import { Criteria, groupCounts, LabelKeys } from '../fleet/groups/groups.tsx';
import { HEALTH_ORDER, HEALTHS } from '../fleet/nodes/node-table.tsx';
import { useUiEdits } from '../ownership/git-edits.tsx';
import { ManifestProblems, OwnerCell } from '../ownership/manifest-owner.tsx';
import { type SourcedLabel, SourcedLabels } from '../ownership/sourced-labels.tsx';

const NodeGroupDialogs = lazyPart(() => import('../fleet/groups/group-dialogs.tsx'), 'NodeGroupDialogs');

/** A group, or with the id `__ungrouped__` the nodes that no group wants. */
export const GroupPage = () => {
  const { environment } = usePlace();
  const { groupId = '' } = useParams();
  const groups = useQuery(queries.nodeGroups(environment.id));
  const stats = useQuery(queries.groupHealth(environment.id));
  const nodes = useQuery(queries.nodesInGroup(environment.id, groupId));
  const failed = useLoadError(nodes);
  const group = groups.data?.find(({ id }) => id === groupId) ?? null;
  const health = stats.data?.find(({ key }) => key === groupId);
  const navigate = useNavigate();
  const [action, setAction] = useState<GroupAction | null>(null);
  const actedEver = useEver(action !== null);
  const title = groupId === UNGROUPED ? 'Nodes in no group' : (group?.name ?? 'Group');
  return (
    <Page
      title={title}
      back={{ to: paths.groups(environment.id), word: 'Groups' }}
      actions={group && <GroupActions group={group} act={setAction} />}
    >
      {group && (
        <ManifestProblems environmentId={environment.id} kind="NodeGroup" owned={[group]} ownedOnly />
      )}
      {failed ? (
        <ErrorState {...failed} what="This group" />
      ) : (
        <>
          <Loaded query={groups} what="The group" skeleton={<SkeletonBlock height={112} />}>
            {() => (
              <div className="panel stack">
                {health && (
                  <CountBar label={`${title} by health`} counts={groupCounts(environment.id, health)} />
                )}
                <GroupFacts env={environment.id} group={group} health={health} />
              </div>
            )}
          </Loaded>
          <Loaded
            query={nodes}
            what="Its nodes"
            skeleton={<SkeletonRows rows={8} label="Loading its nodes" />}
          >
            {(list) =>
              list.length === 0 ? (
                <NoNodes group={group} />
              ) : (
                <GroupNodes env={environment.id} title={title} group={group} nodes={list} />
              )
            }
          </Loaded>
        </>
      )}
      <Suspense fallback={null}>
        {actedEver && (
          <NodeGroupDialogs
            action={action}
            close={() => setAction(null)}
            deleted={() => void navigate(paths.groups(environment.id))}
          />
        )}
      </Suspense>
    </Page>
  );
};

interface GroupActionsProps {
  group: NodeGroup;
  act: (action: GroupAction) => void;
}

const GroupActions = ({ group, act }: GroupActionsProps) => {
  const { team } = usePlace();
  const edits = useUiEdits(group.git !== null);
  const reason =
    group.git && edits === 'refuse'
      ? `Described in git at ${group.git.path}:${group.git.line}: change it there and push.`
      : whyNot(team.role, 'ADMIN');
  return (
    <>
      <Button
        icon="pencil"
        disabled={reason !== null}
        tip={reason ?? undefined}
        onClick={() => act({ kind: 'change', group })}
      >
        Change
      </Button>
      <Button
        icon="trash"
        disabled={reason !== null}
        tip={reason ?? undefined}
        onClick={() => act({ kind: 'delete', group })}
      >
        Delete
      </Button>
    </>
  );
};

interface FactsProps {
  env: string;
  group: NodeGroup | null;
  health: GroupHealth | undefined;
}

const GroupFacts = ({ env, group, health }: FactsProps) => {
  if (!group) return <p className="muted">Their own labels match the criteria of no group.</p>;
  return (
    <dl className="facts">
      <Fact name="Nodes with">
        <Criteria labels={group.criteria} />
      </Fact>
      <Fact name="Gives them">
        <Labels labels={group.labelTemplate} />
      </Fact>
      <Fact name="Requires">
        <LabelKeys keys={group.requiredLabels} />
      </Fact>
      <Fact name="Lack a required label">
        {health && health.missingLabels > 0 ? (
          <Badge tone="held">
            {health.missingLabels} of {health.total}
          </Badge>
        ) : (
          'none'
        )}
      </Fact>
      <Fact name="Owner">
        <OwnerCell env={env} owned={group} />
      </Fact>
      <Fact name="Updated">
        <Time at={group.updatedAt} />
      </Fact>
      <Fact name="Id">
        <ShortId id={group.id} />
      </Fact>
    </dl>
  );
};

/** The group's own labels first, so that they are in sight. */
function labelsIn(group: NodeGroup | null, node: NodeInGroup): SourcedLabel[] {
  const template = Object.entries(group?.labelTemplate ?? {});
  const given = template.map(([key, value]): SourcedLabel => {
    if (!node.overriddenLabels.includes(key)) return { key, value, from: 'given' };
    const instead = node.labels[key];
    return {
      key,
      value,
      overridden: `${instead === undefined ? 'Another value' : `${key}=${instead}`} outranks it: set in the UI, or by a group that comes first by name`,
    };
  });
  const givenKeys = new Set(given.filter((label) => !label.overridden).map(({ key }) => key));
  const others = Object.entries(node.labels)
    .filter(([key]) => !givenKeys.has(key))
    .map(([key, value]) => ({ key, value }))
    .sort((a, b) => a.key.localeCompare(b.key));
  return [...given, ...others];
}

const columns = (group: NodeGroup | null): Column<NodeInGroup>[] => [
  { key: 'name', title: 'Name', width: '16%', sort: (row) => row.name, cell: (row) => row.name },
  {
    key: 'health',
    title: 'Health',
    width: '128px',
    sort: (row) => HEALTH_ORDER[row.status],
    cell: (row) => <HealthBadge health={row.status} reason={row.statusReason} />,
  },
  {
    key: 'labels',
    title: 'Labels',
    priority: 2,
    cell: (row) => <SourcedLabels labels={labelsIn(group, row)} limit={4} />,
  },
  {
    key: 'missing',
    title: 'Lacks',
    width: '12%',
    sort: (row) => row.missingLabels.length,
    cell: (row) =>
      row.missingLabels.length > 0 ? (
        <Badge tone="held" tip={`Required and not there: ${row.missingLabels.join(', ')}`}>
          {row.missingLabels.join(', ')}
        </Badge>
      ) : (
        <span className="muted">nothing</span>
      ),
  },
  {
    key: 'pipelines',
    title: 'Pipelines',
    width: '96px',
    align: 'end',
    priority: 2,
    sort: (row) => row.pipelinesRunning,
    cell: (row) => (
      <span className="mono">
        {row.pipelinesRunning}/{row.pipelinesDesired}
      </span>
    ),
  },
  momentColumn({
    key: 'heard',
    title: 'Heard',
    width: '98px',
    priority: 3,
    at: (row) => row.lastHeartbeatAt,
  }),
];

interface NodesProps {
  env: string;
  title: string;
  group: NodeGroup | null;
  nodes: readonly NodeInGroup[];
}

const GroupNodes = ({ env, title, group, nodes }: NodesProps) => {
  const [health, setHealth] = useAddressParam('health');
  const tableColumns = useMemo(() => columns(group), [group]);
  return (
    <DataTable
      caption={title.startsWith('Nodes') ? title : `Nodes of ${title}`}
      noun="node"
      rows={health ? nodes.filter(({ status }) => status === health) : nodes}
      columns={tableColumns}
      rowKey={(row) => row.id}
      rowHref={(row) => paths.node(env, row.id)}
      filterText={(row) => [row.name, ...Object.entries(row.labels).map((pair) => pair.join('='))].join(' ')}
      defaultSort="name"
      toolbar={<SegmentedControl label="Health" value={health} options={HEALTHS} onChange={setHealth} />}
    />
  );
};

const NoNodes = ({ group }: { group: NodeGroup | null }) => (
  <EmptyState icon="fleet" title={group ? 'No node belongs to it' : 'Every node is in a group'}>
    {group ? (
      <p>
        It wants nodes with <Labels labels={group.criteria} />. Give a node these labels by{' '}
        <code>SVC_NODE_LABELS</code> or on its page, or change what the group asks for
        {group.git ? ', in its manifest' : ''}.
      </p>
    ) : (
      <p>A node whose labels match no group would be listed here.</p>
    )}
  </EmptyState>
);
