import { useQuery } from '@tanstack/react-query';
import { Suspense, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { SharedComponent } from '../../../../schemas/api/pipelines/shared-components.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonBlock, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Badge } from '../../ui/primitives/badge.tsx';
import { Button } from '../../ui/primitives/button.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import { plural } from '../../ui/text/format.ts';
import { behind, KIND_WORD, pipelinesOf } from './shared-component-usage.ts';

const SharedEditor = lazyPart(() => import('./shared-component-editor.tsx'), 'SharedEditor');

/** In the address, in the place of an id: one that is not made yet. */
const NEW = 'new';

const columns: Column<SharedComponent>[] = [
  { key: 'name', title: 'Name', sort: (row) => row.name, cell: (row) => row.name },
  {
    key: 'type',
    title: 'Type',
    width: '200px',
    sort: (row) => row.componentType,
    cell: (row) => (
      <span className="cell-line">
        <span className="mono">{row.componentType}</span>
        <span className="muted">{KIND_WORD[row.kind]}</span>
      </span>
    ),
  },
  {
    key: 'description',
    title: 'What it is for',
    priority: 2,
    cell: (row) => <span data-tip={row.description ?? undefined}>{row.description}</span>,
  },
  {
    key: 'version',
    title: 'Version',
    width: '84px',
    align: 'end',
    sort: (row) => row.version,
    cell: (row) => <span className="mono">v{row.version}</span>,
  },
  {
    key: 'users',
    title: 'Used by',
    width: '230px',
    priority: 2,
    sort: (row) => row.usedBy.length,
    cell: (row) => {
      const late = pipelinesOf(behind(row)).length;
      return (
        <span className="cell-line">
          {plural(pipelinesOf(row.usedBy).length, 'pipeline')}
          {late > 0 && <Badge tone="moving">{late} behind</Badge>}
        </span>
      );
    },
  },
  momentColumn({ key: 'updated', title: 'Updated', width: '98px', priority: 3, at: (row) => row.updatedAt }),
];

export const SharedComponents = () => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const [params, setParams] = useSearchParams();
  const components = useQuery(queries.sharedComponents(env));
  const id = params.get('id');
  const open = (next: string | null): void =>
    setParams(next === null ? { tab: 'shared' } : { tab: 'shared', id: next });
  const hrefOf = useMemo(
    () => (row: SharedComponent) => paths.library(env, { tab: 'shared', id: row.id }),
    [env],
  );
  const add = (
    <Button icon="plus" kind="primary" disabled={team.role === 'VIEWER'} onClick={() => open(NEW)}>
      New shared component
    </Button>
  );
  return (
    <Loaded
      query={components}
      what="Shared components"
      skeleton={<SkeletonRows rows={8} label="Loading shared components" />}
    >
      {(list) => {
        const chosen = list.find((component) => component.id === id) ?? null;
        if (chosen || id === NEW) {
          return (
            <Suspense fallback={<SkeletonBlock height={420} label="Loading the editor" />}>
              <SharedEditor
                key={id}
                component={chosen}
                close={() => open(null)}
                made={(made) => open(made.id)}
              />
            </Suspense>
          );
        }
        return list.length === 0 ? (
          <EmptyState icon="link" title="No shared components yet">
            <p>
              A shared component is configured once and linked into many pipelines of {environment.name}: the
              sink of the archive, the filter that drops what is personal. A change makes a new version, which
              each pipeline accepts when it is ready.
            </p>
            {add}
          </EmptyState>
        ) : (
          <DataTable
            caption="Shared components"
            noun="component"
            rows={list}
            columns={columns}
            rowKey={(row) => row.id}
            rowHref={hrefOf}
            filterText={(row) =>
              [
                row.name,
                row.componentType,
                row.description,
                ...row.usedBy.map((use) => use.pipelineName),
              ].join(' ')
            }
            defaultSort="name"
            toolbar={add}
          />
        );
      }}
    </Loaded>
  );
};
