import { NativeSelect, Stack } from '@mantine/core';
import { usePrefetchQuery, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import type { FleetMatrix as Matrix } from '../../../../../schemas/api/fleet/matrix.ts';
import { queries } from '../../../api/queries/index.ts';
import { useAddressParam } from '../../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonBlock } from '../../../ui/feedback/page-states.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { TextFilter } from '../../../ui/table/text-filter.tsx';
import { plural } from '../../../ui/text/format.ts';
import { FilterPresets } from '../../saved-filters/filter-presets.tsx';
import { HEALTHS } from '../nodes/node-table.tsx';
import { MatrixGrid } from './matrix-grid.tsx';
import { type MatrixFilter, viewOf } from './matrix-model.ts';

const SHOWN = [
  { value: '', word: 'All' },
  { value: 'differs', word: 'Not as it should be' },
] as const;
const ORDERS = [
  { value: '', word: 'By name' },
  { value: 'group', word: 'By group' },
] as const;

/** In the address, and so in what is kept as a filter. */
const PARAMS = ['node', 'pipeline', 'show', 'health', 'by'] as const;

/** Every node against every pipeline: an empty cell should not run it. */
export const FleetMatrix = ({ environmentId }: { environmentId: string }) => {
  // Asked for while the page is drawn and not after: of thousands of nodes the answer takes a while.
  usePrefetchQuery(queries.fleetMatrix(environmentId));
  const matrix = useQuery(queries.fleetMatrix(environmentId));
  return (
    <Loaded
      query={matrix}
      what="The matrix"
      skeleton={<SkeletonBlock height={560} label="Loading the matrix" />}
    >
      {(data) =>
        data.nodes.length === 0 ? (
          <EmptyState icon="fleet" title="No nodes yet">
            <p>
              Here each node stands against each pipeline, and what does not run as it should is in sight.
              Enroll a node by the button above.
            </p>
          </EmptyState>
        ) : (
          <FilteredMatrix env={environmentId} matrix={data} />
        )
      }
    </Loaded>
  );
};

const FilteredMatrix = ({ env, matrix }: { env: string; matrix: Matrix }) => {
  const [node] = useAddressParam('node');
  const [pipeline] = useAddressParam('pipeline');
  const [health, setHealth] = useAddressParam('health', { replace: true });
  const [show, setShow] = useAddressParam('show', { replace: true });
  const [by, setBy] = useAddressParam('by', { replace: true });
  const groups = useQuery({ ...queries.nodeGroups(env), enabled: by === 'group' });
  const differing = show === 'differs';
  const grouped = by === 'group';
  const wanted = useMemo(
    (): MatrixFilter => ({ node, pipeline, health, differing, grouped }),
    [node, pipeline, health, differing, grouped],
  );
  // What is typed must not wait for thousands of rows.
  const filter = useDeferredValue(wanted);
  const view = useMemo(() => viewOf(matrix, groups.data ?? [], filter), [matrix, groups.data, filter]);
  return (
    <Stack gap="md">
      <div className="matrix-bar">
        <TextFilter param="node" label="Filter nodes, labels" />
        <TextFilter param="pipeline" label="Filter pipelines" />
        <NativeSelect aria-label="Health" value={health} onChange={(event) => setHealth(event.target.value)}>
          {HEALTHS.map(({ value, word }) => (
            <option key={value} value={value}>
              {value ? word : 'Any health'}
            </option>
          ))}
        </NativeSelect>
        <SegmentedControl label="Show" value={show} options={SHOWN} onChange={setShow} />
        <SegmentedControl label="Order" value={by} options={ORDERS} onChange={setBy} />
        <FilterPresets scope="fleet_matrix" params={PARAMS} />
        <span className="table-count" role="status">
          {plural(view.nodes, 'node')}, {plural(view.columns.length, 'pipeline')}
        </span>
      </div>
      {view.rows.length === 0 ? (
        <p className="calm-note muted panel">{emptyText(wanted)}</p>
      ) : (
        <MatrixGrid env={env} view={view} />
      )}
    </Stack>
  );
};

function emptyText({ node, pipeline, health, differing }: MatrixFilter): string {
  if (differing && !node && !pipeline && !health) return 'Every node runs what it should.';
  return 'No node and pipeline are like that.';
}
