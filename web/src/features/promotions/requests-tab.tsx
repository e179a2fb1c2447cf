import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Promotion } from '../../../../schemas/api/delivery/promotions.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { EnvironmentTag } from '../../ui/primitives/environment-tag.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import { plural } from '../../ui/text/format.ts';
import { inOrderOfNeed, isWaiting, statusText } from './promotion-text.ts';
import { PromotionBadge } from './status-badge.tsx';
import { FromTo, PullRequestLink, WaitingRequests } from './waiting-request.tsx';

const COLUMNS: Column<Promotion>[] = [
  {
    key: 'name',
    title: 'Pipeline',
    sort: (row) => row.pipelineName,
    cell: (row) => row.pipelineName,
  },
  {
    key: 'way',
    title: 'From, to',
    width: '26%',
    sort: (row) => `${row.sourceEnvironmentName} ${row.targetEnvironmentName}`,
    cell: (row) => <FromTo promotion={row} />,
  },
  {
    key: 'status',
    title: 'Status',
    width: '132px',
    sort: (row) => row.status,
    cell: (row) => <PromotionBadge promotion={row} />,
  },
  {
    key: 'version',
    title: 'Version',
    width: '104px',
    priority: 2,
    cell: (row) => <Versions promotion={row} />,
  },
  {
    key: 'pull',
    title: 'Pull request',
    width: '112px',
    priority: 2,
    cell: (row) => <PullRequestLink promotion={row} />,
  },
  { key: 'note', title: 'Note', width: '14%', priority: 3, cell: (row) => row.note ?? '' },
  {
    key: 'by',
    title: 'Asked by',
    width: '128px',
    priority: 3,
    sort: (row) => row.requestedBy,
    cell: (row) => row.requestedBy,
  },
  momentColumn({ key: 'at', title: 'When', width: '104px', priority: 2, at: (row) => row.createdAt }),
];

/** What it was there, what it became here. */
export const Versions = ({ promotion: { sourceVersion, targetVersion } }: { promotion: Promotion }) =>
  sourceVersion === null && targetVersion === null ? (
    <span className="muted">–</span>
  ) : (
    <span className="mono version-pair">
      {sourceVersion === null ? '–' : `v${sourceVersion}`} →{' '}
      {targetVersion === null ? '–' : `v${targetVersion}`}
    </span>
  );

/** Into the environment and out of it: what waits first, with what can be done about it. */
export const RequestsTab = () => {
  const { environment } = usePlace();
  const env = environment.id;
  const promotions = useQuery(queries.promotions(env));
  return (
    <Loaded
      query={promotions}
      what="Promotions"
      skeleton={<SkeletonRows rows={8} label="Loading the promotions" />}
    >
      {(list) => {
        const waiting = inOrderOfNeed(list.filter(isWaiting));
        const over = list.filter((each) => !isWaiting(each));
        if (list.length === 0) return <Nothing name={environment.name} />;
        return (
          <Stack gap="md">
            <WaitingRequests list={waiting} />
            {over.length > 0 && (
              <DataTable
                caption="Earlier promotions"
                noun="promotion"
                rows={over}
                columns={COLUMNS}
                rowKey={(row) => row.id}
                rowHref={hrefOf(env)}
                filterText={textOf}
                defaultSort="-at"
                remember="promotions"
              />
            )}
            {over.length === 0 && (
              <p className="muted">
                {plural(waiting.length, 'promotion waits', 'promotions wait')}; none is over yet.
              </p>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
};

/** To the pipeline that it is about, on the side where one looks; each row leads somewhere as long as one of them is there. */
const hrefOf =
  (env: string) =>
  ({ targetEnvironmentId, targetPipelineId, sourceEnvironmentId, pipelineId }: Promotion): string => {
    const here = targetEnvironmentId === env ? targetPipelineId : pipelineId;
    if (here) return paths.pipeline(env, here);
    return targetEnvironmentId === env && pipelineId && sourceEnvironmentId
      ? paths.pipeline(sourceEnvironmentId, pipelineId)
      : paths.pipelines(env);
  };

const textOf = (row: Promotion): string =>
  [
    row.pipelineName,
    row.targetName,
    row.sourceEnvironmentName,
    row.targetEnvironmentName,
    row.requestedBy,
    statusText(row).word,
  ].join(' ');

const Nothing = ({ name }: { name: string }) => (
  <EmptyState icon="promotions" title="Nothing was promoted yet">
    <p>
      Open a pipeline that does well where it is, and choose <strong>Promote…</strong>: Headgate takes it to
      another environment as it is saved at that moment.
    </p>
    <ul className="plain-list promotion-ways">
      <li>An environment that follows git gets a pull request, with the plan of what would change.</li>
      <li>One that needs approval gets a request, which another member of the team decides here.</li>
      <li>Elsewhere it is deployed at once.</li>
    </ul>
    <p className="muted">
      Promotions into <EnvironmentTag environment={{ name }} /> and out of it are listed here.
    </p>
  </EmptyState>
);
