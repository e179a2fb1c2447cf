import { useQuery } from '@tanstack/react-query';
import { Suspense, useMemo, useState } from 'react';
import type { PipelineGroup } from '../../../../schemas/api/pipelines/pipeline-order.ts';
import type { PipelineSummary } from '../../../../schemas/api/pipelines/pipelines.ts';
import { lazyPart } from '../../api/lazy-part.ts';
import { queries } from '../../api/queries/index.ts';
import { useEver } from '../../app/lazy-mount.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { putParam, useAddress } from '../../app/search-params.ts';
import { Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button, ButtonLink } from '../../ui/primitives/button.tsx';
import { Page } from '../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { useOpenAnomalies } from '../anomalies/pipeline-badge.tsx';
import { FilterPresets } from '../saved-filters/filter-presets.tsx';
import { BulkActions } from './actions/bulk-actions.tsx';
import { VIEWER_REASON } from './actions/fixed-reason.ts';
import { usePipelineActions } from './actions/pipeline-actions.ts';
import { type GroupAction, GroupNav } from './groups/group-nav.tsx';
import { NO_GROUP, subtreeIds } from './groups/group-tree.ts';
import { pipelineColumns } from './pipeline-columns.tsx';
import { pipelineStatus } from './pipeline-status.ts';
import { NoPipelines } from './pipelines-empty-state.tsx';

const PipelineDialogs = lazyPart(() => import('./actions/pipeline-dialogs.tsx'), 'PipelineDialogs');
const GroupDialogs = lazyPart(() => import('./groups/group-dialogs.tsx'), 'GroupDialogs');
const NewPipelineDialog = lazyPart(() => import('./new-pipeline.tsx'), 'NewPipelineDialog');

const STATUSES = [
  { value: '', word: 'All' },
  { value: 'running', word: 'Running' },
  { value: 'moving', word: 'Starting' },
  { value: 'held', word: 'Held' },
  { value: 'crashed', word: 'Crashed' },
  { value: 'draft', word: 'Draft' },
] as const;

const searchText = (row: PipelineSummary): string =>
  [row.name, row.description, row.commit, row.commitAuthor, row.commitMessage].filter(Boolean).join(' ');

/** In the address, and so in what is kept as a filter. */
const FILTERS = ['q', 'status', 'group', 'sort'] as const;

export const PipelinesPage = () => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const [params, changeAddress] = useAddress();
  const pipelines = useQuery(queries.pipelines(env));
  const groups = useQuery(queries.pipelineGroups(env));
  const actions = usePipelineActions();
  const [groupAction, setGroupAction] = useState<GroupAction | null>(null);
  const mayEdit = team.role !== 'VIEWER';
  const group = params.get('group') ?? '';
  const isNew = params.get('new') === '1';
  const dialogsEver = useEver(actions.action !== null);
  const groupsEver = useEver(groupAction !== null);
  const newEver = useEver(isNew);

  const setParam = (key: string, value: string, replace = false): void =>
    changeAddress((next) => putParam(next, key, value), { replace });
  const create = (
    <Button
      icon="plus"
      kind="primary"
      disabled={!mayEdit}
      tip={mayEdit ? undefined : VIEWER_REASON}
      onClick={() => setParam('new', '1')}
    >
      New pipeline
    </Button>
  );
  const migrate = (
    <ButtonLink icon="transform" to={paths.migrations(env)}>
      Migrate
    </ButtonLink>
  );
  const known = groups.data ?? [];
  return (
    <Page
      title="Pipelines"
      actions={
        pipelines.data?.length === 0 ? null : (
          <>
            {groups.data?.length === 0 && (
              <Button
                icon="folder"
                disabled={!mayEdit}
                tip={mayEdit ? undefined : VIEWER_REASON}
                onClick={() => setGroupAction({ kind: 'create', parent: null })}
              >
                New group
              </Button>
            )}
            {migrate}
            {create}
          </>
        )
      }
    >
      <Loaded
        query={pipelines}
        what="Pipelines"
        skeleton={<SkeletonRows rows={14} label="Loading pipelines" />}
      >
        {(list) =>
          list.length === 0 ? (
            <NoPipelines env={env} create={create} migrate={migrate} />
          ) : (
            <div className={known.length > 0 ? 'with-side' : undefined}>
              {known.length > 0 && <GroupNav groups={known} pipelines={list} act={setGroupAction} />}
              <PipelineTable
                env={env}
                pipelines={list}
                groups={known}
                start={actions.start}
                status={params.get('status') ?? ''}
                group={group}
                setStatus={(value) => setParam('status', value)}
              />
            </div>
          )
        }
      </Loaded>
      <Suspense fallback={null}>
        {dialogsEver && <PipelineDialogs actions={actions} />}
        {groupsEver && (
          <GroupDialogs
            action={groupAction}
            close={() => setGroupAction(null)}
            deleted={(id) => {
              if (id === group) setParam('group', '', true);
            }}
          />
        )}
        {newEver && (
          <NewPipelineDialog
            opened={isNew}
            close={() => setParam('new', '', true)}
            groupId={known.some(({ id }) => id === group) ? group : null}
          />
        )}
      </Suspense>
    </Page>
  );
};

interface TableProps {
  env: string;
  pipelines: readonly PipelineSummary[];
  groups: readonly PipelineGroup[];
  start: ReturnType<typeof usePipelineActions>['start'];
  status: string;
  group: string;
  setStatus: (status: string) => void;
}

const PipelineTable = ({ env, pipelines, groups, start, status, group, setStatus }: TableProps) => {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const open = useOpenAnomalies(env);
  const tableColumns = useMemo(() => pipelineColumns(env, start, open), [env, start, open]);
  const shown = useMemo(() => {
    // A group that is gone narrows nothing.
    const within = groups.some(({ id }) => id === group) ? subtreeIds(groups, group) : null;
    return pipelines.filter((row) => {
      if (status && pipelineStatus(row).key !== status) return false;
      if (group === NO_GROUP) return row.groupId === null;
      return within === null || (row.groupId !== null && within.has(row.groupId));
    });
  }, [pipelines, groups, group, status]);
  return (
    <DataTable
      caption="Pipelines"
      noun="pipeline"
      rows={shown}
      columns={tableColumns}
      rowKey={(row) => row.id}
      rowHref={(row) => paths.pipeline(env, row.id)}
      filterText={searchText}
      defaultSort="name"
      remember="pipelines"
      selection={{
        chosen,
        change: setChosen,
        nameOf: (row) => row.name,
        actions: (rows) => <BulkActions pipelines={rows} start={start} />,
      }}
      toolbar={
        <>
          <SegmentedControl label="Status" value={status} options={STATUSES} onChange={setStatus} />
          <FilterPresets scope="pipeline_list" params={FILTERS} />
        </>
      }
    />
  );
};
