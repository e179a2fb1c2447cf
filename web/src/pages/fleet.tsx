import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useSearchParams } from 'react-router';
import { queries } from '../api/queries.ts';
import { useAddressParam } from '../app/address.ts';
import { usePlace } from '../app/environment.tsx';
import { useEver } from '../app/ever.ts';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { Segmented } from '../components/segmented.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../components/states.tsx';
import { EnrollDialog } from './fleet/enroll.tsx';
import type { GroupAction } from './fleet/group-dialogs.tsx';
import { FleetGroups } from './fleet/groups.tsx';
import { FleetMatrix } from './fleet/matrix.tsx';
import { whyNot } from './fleet/may.ts';
import type { NodeAction } from './fleet/node-actions.ts';
import { NodeTable } from './fleet/node-table.tsx';

const NodeDialogs = lazy(() =>
  import('./fleet/node-dialogs.tsx').then((module) => ({ default: module.NodeDialogs })),
);
const CreateNodeDialog = lazy(() =>
  import('./fleet/create-node.tsx').then((module) => ({ default: module.CreateNodeDialog })),
);
const NodeGroupDialogs = lazy(() =>
  import('./fleet/group-dialogs.tsx').then((module) => ({ default: module.NodeGroupDialogs })),
);

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
    <button
      type="button"
      className="button"
      data-kind="primary"
      disabled={noViewer !== null}
      data-tip={noViewer ? 'Viewers cannot enroll nodes' : undefined}
      onClick={() => open('enroll')}
    >
      <Icon name="plus" /> Enroll a node
    </button>
  );
  const addNode = (
    <button
      type="button"
      className="button"
      disabled={noViewer !== null}
      data-tip={noViewer ?? undefined}
      onClick={() => open('node')}
    >
      Add by hand
    </button>
  );
  const addGroup = (
    <button
      type="button"
      className="button"
      data-kind="primary"
      disabled={noEditor !== null}
      data-tip={noEditor ?? undefined}
      onClick={() => open('group')}
    >
      <Icon name="plus" /> New node group
    </button>
  );
  const list = nodes.data;
  return (
    <Page
      title="Fleet"
      actions={
        <>
          <Segmented
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
                <div className="toolbar">
                  {enroll}
                  {addNode}
                  <button type="button" className="button" onClick={() => setArchived(ALSO)}>
                    Show archived nodes
                  </button>
                </div>
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
