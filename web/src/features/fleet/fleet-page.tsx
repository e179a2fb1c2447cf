import { Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { useSearchParams } from 'react-router';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { useEver } from '../../app/lazy-mount.ts';
import { whyNot } from '../../app/permissions.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import type { GroupAction } from './groups/group-dialogs.tsx';
import { FleetGroups } from './groups/groups.tsx';
import { FleetMatrix } from './matrix/matrix.tsx';
import { EnrollDialog } from './nodes/enroll-dialog.tsx';
import type { NodeAction } from './nodes/node-actions.ts';
import { NodeTable } from './nodes/node-table.tsx';

const NodeDialogs = lazyPart(() => import('./nodes/node-dialogs.tsx'), 'NodeDialogs');
const CreateNodeDialog = lazyPart(() => import('./nodes/create-node.tsx'), 'CreateNodeDialog');
const NodeGroupDialogs = lazyPart(() => import('./groups/group-dialogs.tsx'), 'NodeGroupDialogs');

const VIEWS = [
  { value: 'nodes', word: 'Nodes' },
  { value: 'matrix', word: 'Matrix' },
  { value: 'groups', word: 'Groups' },
] as const;

/** In the address: archived nodes are shown too. */
const ALSO = 'also';

/** In the address: the dialog that is open. */
const NEW = ['node', 'enroll', 'group'] as const;

export const FleetPage = () => {
  const { environment, team } = usePlace();
  const [params, setParams] = useSearchParams();
  const [action, setAction] = useState<NodeAction | null>(null);
  const [groupAction, setGroupAction] = useState<GroupAction | null>(null);
  const view = VIEWS.find(({ value }) => value === params.get('view'))?.value ?? 'nodes';
  const [archived, setArchived] = useAddressParam('archived');
  // The matrix reads its nodes by itself, in short.
  const nodes = useQuery({
    ...queries.nodes(environment.id, archived === ALSO),
    enabled: view === 'nodes',
  });
  const noViewer = whyNot(team.role, 'EDITOR');
  const noEditor = whyNot(team.role, 'ADMIN');
  const asked = NEW.find((each) => each === params.get('new'));
  const opened = asked && (asked === 'group' ? noEditor : noViewer) ? undefined : asked;
  const open = (dialog: (typeof NEW)[number] | null): void =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        if (dialog) next.set('new', dialog);
        else next.delete('new');
        return next;
      },
      { replace: dialog === null },
    );
  const close = (): void => open(null);
  const newGroup = groupAction ?? (opened === 'group' ? ({ kind: 'create' } as const) : null);
  const actedEver = useEver(action !== null);
  const nodeEver = useEver(opened === 'node');
  const groupEver = useEver(newGroup !== null);
  const enroll = (
    <Button
      icon="plus"
      kind="primary"
      disabled={noViewer !== null}
      tip={noViewer ? 'Viewers cannot enroll nodes' : undefined}
      onClick={() => open('enroll')}
    >
      Enroll a node
    </Button>
  );
  const addNode = (
    <Button disabled={noViewer !== null} tip={noViewer ?? undefined} onClick={() => open('node')}>
      Add by hand
    </Button>
  );
  const addGroup = (
    <Button
      icon="plus"
      kind="primary"
      disabled={noEditor !== null}
      tip={noEditor ?? undefined}
      onClick={() => open('group')}
    >
      New node group
    </Button>
  );
  const list = nodes.data;
  return (
    <Page
      title="Fleet"
      actions={
        <>
          <SegmentedControl
            label="View"
            value={view}
            options={VIEWS}
            // Filters and order are a view's own: they do not go along.
            onChange={(value) => setParams(value === 'nodes' ? {} : { view: value })}
          />
          {view === 'groups'
            ? addGroup
            : list?.length !== 0 && (
                <>
                  {addNode}
                  {enroll}
                </>
              )}
        </>
      }
    >
      {view === 'groups' && <FleetGroups environmentId={environment.id} act={setGroupAction} />}
      {view === 'matrix' && <FleetMatrix environmentId={environment.id} />}
      {view === 'nodes' && (
        <Loaded query={nodes} what="Nodes" skeleton={<SkeletonRows rows={12} label="Loading nodes" />}>
          {(all) =>
            all.length === 0 && archived !== ALSO ? (
              <EmptyState icon="fleet" title="No nodes yet">
                <p>
                  A node is a machine that runs the agent. Make an enrollment token; the dialog gives you the
                  exact lines to paste into the machine’s terminal.
                </p>
                <Group gap="sm">
                  {enroll}
                  {addNode}
                  <Button onClick={() => setArchived(ALSO)}>Show archived nodes</Button>
                </Group>
              </EmptyState>
            ) : (
              <NodeTable
                env={environment.id}
                nodes={all}
                archived={archived === ALSO}
                showArchived={(show) => setArchived(show ? ALSO : '')}
                start={(kind, chosen) => setAction({ kind, nodes: chosen })}
              />
            )
          }
        </Loaded>
      )}
      <EnrollDialog environmentId={environment.id} opened={opened === 'enroll'} close={close} />
      <Suspense fallback={null}>
        {nodeEver && <CreateNodeDialog opened={opened === 'node'} close={close} />}
        {actedEver && <NodeDialogs action={action} close={() => setAction(null)} />}
        {groupEver && (
          <NodeGroupDialogs
            action={newGroup}
            close={() => {
              setGroupAction(null);
              if (opened === 'group') close();
            }}
          />
        )}
      </Suspense>
    </Page>
  );
};
