import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { queries } from '../api/queries.ts';
import { usePlace } from '../app/environment.tsx';
import { Icon } from '../components/icons.tsx';
import { Page } from '../components/page.tsx';
import { Segmented } from '../components/segmented.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../components/states.tsx';
import { EnrollDialog } from './fleet/enroll.tsx';
import { FleetGroups } from './fleet/groups.tsx';
import { FleetMatrix } from './fleet/matrix.tsx';
import { NodeTable } from './fleet/node-table.tsx';

const VIEWS = [
  { value: 'nodes', word: 'Nodes' },
  { value: 'matrix', word: 'Matrix' },
  { value: 'groups', word: 'Groups' },
] as const;

export const FleetPage = () => {
  const { environment, team } = usePlace();
  const [params, setParams] = useSearchParams();
  const [enrolling, setEnrolling] = useState(false);
  const nodes = useQuery(queries.nodes(environment.id));
  const view = VIEWS.find(({ value }) => value === params.get('view'))?.value ?? 'nodes';
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
        <>
          <Segmented
            label="View"
            value={view}
            options={VIEWS}
            // Filters and order are a view's own: they do not go along.
            onChange={(value) => setParams(value === 'nodes' ? {} : { view: value })}
          />
          {nodes.data?.length !== 0 && enroll}
        </>
      }
    >
      {view === 'groups' ? (
        <FleetGroups environmentId={environment.id} />
      ) : (
        <Loaded query={nodes} what="Nodes" skeleton={<SkeletonRows rows={12} label="Loading nodes" />}>
          {(list) => {
            if (list.length === 0) {
              return (
                <EmptyState icon="fleet" title="No nodes yet">
                  <p>
                    A node is a machine that runs the agent. Make an enrollment token; the dialog gives you
                    the exact lines to paste into the machine’s terminal.
                  </p>
                  {enroll}
                </EmptyState>
              );
            }
            return view === 'matrix' ? (
              <FleetMatrix environmentId={environment.id} />
            ) : (
              <NodeTable env={environment.id} nodes={list} />
            );
          }}
        </Loaded>
      )}
      <EnrollDialog environmentId={environment.id} opened={enrolling} close={() => setEnrolling(false)} />
    </Page>
  );
};
