import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { RolloutSummary } from '../../../../../schemas/api/delivery/rollouts.ts';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { CommandBlock } from '../../../ui/primitives/command-block.tsx';
import { Commit } from '../../../ui/primitives/copyable.tsx';
import { Labels } from '../../../ui/primitives/labels.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import { NO_CANARY } from './canary-fields.tsx';
import { rolloutLines } from './canary-match.ts';
import { rolloutBadge } from './rollout-text.ts';

interface Props {
  env: string;
  pipeline: Pipeline;
}

/** What went through the fleet by stages, and how it ended. */
export const RolloutsTab = ({ env, pipeline }: Props) => {
  const rollouts = useQuery(queries.rollouts(pipeline.id));
  return (
    <Loaded
      query={rollouts}
      what="Rollouts"
      skeleton={<SkeletonRows rows={4} label="Loading the rollouts" />}
    >
      {(list) =>
        list.length === 0 ? (
          <None env={env} pipeline={pipeline} />
        ) : (
          <DataTable
            caption="Rollouts"
            noun="rollout"
            rows={list}
            columns={COLUMNS}
            rowKey={(row) => row.id}
            defaultSort="-at"
            paramPrefix="rollouts-"
          />
        )
      }
    </Loaded>
  );
};

const None = ({ env, pipeline }: Props) => (
  <EmptyState icon="deploy" title="No version went out by stages yet">
    <p>
      A few nodes try a version first, and are compared with the others for some minutes. Healthy, it goes to
      all; else the version before comes back.
    </p>
    {pipeline.managedBy === 'git' ? (
      <>
        <p>
          Git describes this pipeline: write it into the <code>spec</code> of its manifest, and every commit
          that changes it goes that way.
        </p>
        <CommandBlock label="lines for the manifest" lines={rolloutLines({ ...NO_CANARY, selector: {} })} />
      </>
    ) : (
      <p>
        <Link to={paths.pipeline(env, pipeline.id, { tab: 'rollouts', deploy: 'canary' })}>
          Deploy it to a canary first
        </Link>
        .
      </p>
    )}
  </EmptyState>
);

const COLUMNS: Column<RolloutSummary>[] = [
  {
    key: 'version',
    title: 'Version',
    width: '76px',
    sort: (row) => row.canaryVersion,
    cell: (row) => <span className="mono">v{row.canaryVersion}</span>,
  },
  {
    key: 'status',
    title: 'Status',
    width: '176px',
    cell: (row) => {
      const { tone, word } = rolloutBadge(row);
      return <Badge tone={tone}>{word}</Badge>;
    },
  },
  {
    key: 'reason',
    title: 'Outcome',
    cell: (row) => {
      const reason = row.endReason ?? row.heldReason ?? row.verdict?.message ?? '';
      return <span data-tip={reason || undefined}>{reason || <span className="muted">under way</span>}</span>;
    },
  },
  {
    key: 'canary',
    title: 'Canary',
    width: '160px',
    priority: 3,
    cell: (row) => <Labels labels={row.canarySelector} limit={1} />,
  },
  {
    key: 'changelog',
    title: 'What changed',
    width: '180px',
    priority: 3,
    cell: (row) =>
      row.commit ? (
        <Commit sha={row.commit} />
      ) : (
        <span data-tip={row.changelog || undefined}>{row.changelog}</span>
      ),
  },
  {
    key: 'by',
    title: 'Ended by',
    width: '140px',
    priority: 2,
    cell: (row) => row.endedBy ?? <span className="muted">–</span>,
  },
  momentColumn({ key: 'at', title: 'Began', width: '104px', priority: 2, at: (row) => row.createdAt }),
];
