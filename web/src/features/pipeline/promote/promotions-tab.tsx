import { Stack } from '@mantine/core';
import '../../promotions/promotions.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { Promotion } from '../../../../../schemas/api/delivery/promotions.ts';
import type { Pipeline } from '../../../../../schemas/api/pipelines/pipelines.ts';
import { queries } from '../../../api/queries/index.ts';
import { paths } from '../../../app/paths.ts';
import { whyNot } from '../../../app/permissions.ts';
import { usePlace } from '../../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { momentColumn } from '../../../ui/table/time-column.tsx';
import type { Actions } from '../../pipelines/actions/pipeline-actions.ts';
import { inOrderOfNeed, isWaiting, statusText } from '../../promotions/promotion-text.ts';
import { Versions } from '../../promotions/requests-tab.tsx';
import { FromTo, PullRequestLink, WaitingRequests } from '../../promotions/waiting-request.tsx';

interface Props {
  pipeline: Pipeline;
  start: Actions['start'];
}

/** Where the pipeline was promoted to, and where it came from. */
export const PromotionsTab = ({ pipeline, start }: Props) => {
  const { team } = usePlace();
  const history = useQuery(queries.promotionHistory(pipeline.id));
  const mayNot = whyNot(team.role, 'EDITOR');
  const button = (
    <Button
      icon="promotions"
      disabled={mayNot !== null}
      tip={mayNot ?? undefined}
      onClick={() => start('promote', [pipeline])}
    >
      Promote…
    </Button>
  );
  return (
    <Loaded
      query={history}
      what="Promotions"
      skeleton={<SkeletonRows rows={4} label="Loading the promotions" />}
    >
      {(list) =>
        list.length === 0 ? (
          <EmptyState icon="promotions" title="It was never promoted">
            <p>
              A promotion brings what this pipeline does into another environment of the team. Its nodes,
              values and rollout there stay as they are. Where git describes the other environment it becomes
              a pull request; elsewhere it is deployed, after an approval where one is needed.
            </p>
            {button}
          </EmptyState>
        ) : (
          <History list={list} toolbar={button} />
        )
      }
    </Loaded>
  );
};

const COLUMNS: Column<Promotion>[] = [
  {
    key: 'way',
    title: 'From, to',
    cell: (row) => <FromTo promotion={row} />,
  },
  {
    key: 'name',
    title: 'There',
    width: '20%',
    sort: (row) => row.targetName,
    cell: ({ targetEnvironmentId, targetPipelineId, targetName }) =>
      targetPipelineId ? (
        <Link to={paths.pipeline(targetEnvironmentId, targetPipelineId)}>{targetName}</Link>
      ) : (
        <span className="muted">{targetName}</span>
      ),
  },
  {
    key: 'status',
    title: 'Status',
    width: '132px',
    sort: (row) => row.status,
    cell: (row) => {
      const { tone, word } = statusText(row);
      return (
        <Badge tone={tone} tip={row.note ?? undefined}>
          {word}
        </Badge>
      );
    },
  },
  {
    key: 'version',
    title: 'Version',
    width: '112px',
    priority: 2,
    cell: (row) => <Versions promotion={row} />,
  },
  {
    key: 'pull',
    title: 'Pull request',
    width: '124px',
    priority: 2,
    cell: (row) => <PullRequestLink promotion={row} />,
  },
  {
    key: 'by',
    title: 'Asked by',
    width: '150px',
    priority: 3,
    sort: (row) => row.requestedBy,
    cell: (row) => (
      <span data-tip={row.decidedBy ? `Decided by ${row.decidedBy}` : undefined}>{row.requestedBy}</span>
    ),
  },
  momentColumn({ key: 'at', title: 'When', width: '104px', at: (row) => row.createdAt }),
];

/** What waits stands above, with what may be done about it. */
const History = ({ list, toolbar }: { list: readonly Promotion[]; toolbar: React.ReactNode }) => {
  const waiting = inOrderOfNeed(list.filter(isWaiting));
  return (
    <Stack gap="md">
      <WaitingRequests list={waiting} />
      <DataTable
        caption="Earlier promotions"
        noun="promotion"
        rows={list.filter((each) => !isWaiting(each))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        defaultSort="-at"
        paramPrefix="promotions-"
        toolbar={toolbar}
      />
    </Stack>
  );
};
