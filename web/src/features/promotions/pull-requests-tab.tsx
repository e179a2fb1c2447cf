import { useQuery } from '@tanstack/react-query';
import type { BoundForge } from '../../../../schemas/api/delivery/forges.ts';
import type { PullRequestSummary } from '../../../../schemas/api/delivery/pull-requests.ts';
import { queries } from '../../api/queries/index.ts';
import { paths } from '../../app/paths.ts';
import { usePlace } from '../../app/scope.tsx';
import { useAddressParam } from '../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../ui/feedback/page-states.tsx';
import { Button, ButtonLink } from '../../ui/primitives/button.tsx';
import { CommandBlock } from '../../ui/primitives/command-block.tsx';
import { Copyable } from '../../ui/primitives/copyable.tsx';
import { SegmentedControl } from '../../ui/primitives/segmented-control.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { momentColumn } from '../../ui/table/time-column.tsx';
import { useUiEdits } from '../ownership/git-edits.tsx';
import { CheckLine } from './check-line.tsx';
import { ForgeOut } from './forge-anchor.tsx';
import { FORGE_LABELS, pullRequestBadge } from './promotion-text.ts';
import { PullRequestBadge } from './status-badge.tsx';

const STATES = [
  { value: '', word: 'Open' },
  { value: 'merged', word: 'Merged' },
  { value: 'closed', word: 'Closed' },
  { value: 'all', word: 'All' },
] as const;

interface Bound {
  /** Of the branch; 0 where none is asked for. */
  requiredApprovals: number;
  hasForge: boolean;
}

const columnsOf = (env: string, { requiredApprovals, hasForge }: Bound): Column<PullRequestSummary>[] => [
  {
    key: 'title',
    title: 'Pull request',
    sort: (row) => row.number,
    cell: (row) => (
      <>
        <span className="mono muted">#{row.number}</span> {row.title}
      </>
    ),
  },
  {
    key: 'state',
    title: 'State',
    width: '118px',
    sort: (row) => pullRequestBadge(row).word,
    cell: (row) => <PullRequestBadge pull={row} />,
  },
  {
    key: 'check',
    title: 'Check',
    width: '23%',
    sort: (row) => checkOf(row, env)?.state ?? null,
    cell: (row) => <CheckLine check={checkOf(row, env)} />,
  },
  ...(hasForge
    ? [
        {
          key: 'forge',
          title: 'On',
          width: '132px',
          cell: (row: PullRequestSummary) => <ForgeOut pull={row} />,
        } as const,
      ]
    : [
        {
          key: 'approvals',
          title: 'Approvals',
          width: '88px',
          align: 'end',
          priority: 2,
          sort: (row: PullRequestSummary) => row.approvals,
          cell: (row: PullRequestSummary) => (
            <span className="mono">
              {row.approvals}
              {requiredApprovals > 0 && `/${requiredApprovals}`}
            </span>
          ),
        } as const,
      ]),
  {
    key: 'author',
    title: 'By',
    width: '136px',
    priority: 2,
    sort: (row) => row.author,
    cell: (row) => row.author,
  },
  {
    key: 'branch',
    title: 'Branch',
    width: '132px',
    priority: 3,
    cell: (row) => <Copyable value={row.branch} label="branch" />,
  },
  momentColumn({ key: 'at', title: 'Updated', width: '104px', priority: 2, at: (row) => row.updatedAt }),
];

const checkOf = ({ checks }: PullRequestSummary, env: string) =>
  checks.find(({ environmentId }) => environmentId === env);

/** Of the branch that the environment is bound to. In the address: `state`. */
export const PullRequestsTab = ({ openDialog }: { openDialog: () => void }) => {
  const { environment, team } = usePlace();
  const env = environment.id;
  const [state, setState] = useAddressParam('state');
  const wanted = state === 'all' ? undefined : state === 'merged' || state === 'closed' ? state : 'open';
  const pulls = useQuery(queries.pullRequests(env, wanted));
  const git = useQuery(queries.git(env));
  const toolbar = <SegmentedControl label="State" value={state} options={STATES} onChange={setState} />;
  const bound: Bound = {
    requiredApprovals: git.data?.review?.requiredApprovals ?? 0,
    hasForge: (git.data?.forge?.name ?? 'none') !== 'none',
  };
  return (
    <Loaded
      query={pulls}
      what="Pull requests"
      skeleton={<SkeletonRows rows={8} label="Loading the pull requests" />}
    >
      {(list) => {
        if (list.length > 0 || state !== '') {
          return (
            <DataTable
              caption="Pull requests"
              noun="pull request"
              rows={list}
              columns={columnsOf(env, bound)}
              rowKey={(row) => row.id}
              rowHref={(row) => paths.pullRequest(env, row.number)}
              filterText={(row) =>
                `#${row.number} ${row.title} ${row.branch} ${row.author} ${pullRequestBadge(row).word}`
              }
              defaultSort="-title"
              toolbar={toolbar}
              remember="pull-requests"
            />
          );
        }
        if (git.data && !git.data.configured) return <Unbound env={env} />;
        return (
          <EmptyState icon="promotions" title="No pull request is open">
            <HowOneComes branch={git.data?.branch ?? 'main'} forge={git.data?.forge?.name ?? 'none'} />
            {!bound.hasForge && team.role !== 'VIEWER' && (
              <Button onClick={openDialog}>Open one for a branch…</Button>
            )}
            {toolbar}
          </EmptyState>
        );
      }}
    </Loaded>
  );
};

const Unbound = ({ env }: { env: string }) => (
  <EmptyState icon="git" title="This environment is not bound to git">
    <p>
      A pull request changes the branch that an environment is bound to. Without git, a pipeline is promoted
      by a request that another member of the team approves.
    </p>
    <span className="button-row">
      <ButtonLink to={paths.git(env, { tab: 'settings' })} kind="primary">
        Bind it to git
      </ButtonLink>
      <ButtonLink to={paths.promotions(env, { tab: 'requests' })}>See the requests</ButtonLink>
    </span>
  </EmptyState>
);

const HowOneComes = ({ branch, forge }: { branch: string; forge: BoundForge['name'] }) => {
  const edits = useUiEdits();
  return (
    <>
      <p>
        Every change of <span className="mono">{branch}</span> is planned here before it is merged: what it
        changes, what its tests say, on which nodes engines restart.{' '}
        {edits === 'propose'
          ? 'An edit of what git describes becomes one, and so does a promotion.'
          : 'A promotion into this environment becomes one.'}
      </p>
      <p>
        {forge === 'none'
          ? 'Or push a branch, and open one for it:'
          : `Or push a branch, and open one on ${FORGE_LABELS[forge]}:`}
      </p>
      <CommandBlock
        label="commands that push a branch"
        lines={[
          'git switch --create my-change',
          'git commit --all --message "What it changes"',
          'git push origin my-change',
        ]}
      />
    </>
  );
};
