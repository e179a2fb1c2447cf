import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import type { GitSyncStatus } from '../../../../schemas/api/git-sync.ts';
import type { PullRequestSummary } from '../../../../schemas/api/pull-requests.ts';
import { queries } from '../../api/queries.ts';
import { useAddressParam } from '../../app/address.ts';
import { paths } from '../../app/paths.ts';
import { Badge, Commit, Copyable, Time, type Tone } from '../../components/bits.tsx';
import { CommandBlock } from '../../components/command-block.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { momentColumn } from '../../components/moment-column.tsx';
import { Section } from '../../components/page.tsx';
import { Segmented } from '../../components/segmented.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../components/states.tsx';

type Proposal = PullRequestSummary;

const STATES = [
  { value: '', word: 'Open' },
  { value: 'merged', word: 'Merged' },
  { value: 'closed', word: 'Closed' },
  { value: 'all', word: 'All' },
] as const;

const STATE: Record<Proposal['state'], { tone: Tone; word: string }> = {
  open: { tone: 'moving', word: 'Open' },
  merged: { tone: 'ok', word: 'Merged' },
  closed: { tone: 'unknown', word: 'Closed' },
};

const COLUMNS: Column<Proposal>[] = [
  {
    key: 'number',
    title: 'Number',
    width: '92px',
    sort: (row) => row.number,
    cell: (row) => <span className="mono">#{row.number}</span>,
  },
  { key: 'title', title: 'What changes', sort: (row) => row.title, cell: (row) => row.title },
  {
    key: 'state',
    title: 'State',
    width: '104px',
    sort: (row) => row.state,
    cell: (row) => <Badge tone={STATE[row.state].tone}>{STATE[row.state].word}</Badge>,
  },
  {
    key: 'branch',
    title: 'Branch',
    width: '26%',
    priority: 2,
    cell: (row) => <Copyable value={row.branch} label="branch" />,
  },
  {
    key: 'head',
    title: 'Commit',
    width: '104px',
    priority: 3,
    cell: (row) => <Commit sha={row.headSha} />,
  },
  {
    key: 'author',
    title: 'By',
    width: '150px',
    priority: 2,
    sort: (row) => row.author,
    cell: (row) => row.author,
  },
  momentColumn({ key: 'at', title: 'When', width: '104px', at: (row) => row.createdAt }),
];

/** What edits of git-owned objects have become, and what waits to be merged. In the address: `state`, and `focus` for a number. */
export const ProposalsTab = ({ status }: { status: GitSyncStatus }) => {
  const env = status.environmentId;
  const [state, setState] = useAddressParam('state');
  const wanted = state === 'all' ? undefined : state === 'merged' || state === 'closed' ? state : 'open';
  const proposals = useQuery(queries.pullRequests(env, wanted));
  const [focus] = useAddressParam('focus');
  const toolbar = <Segmented label="State" value={state} options={STATES} onChange={setState} />;
  return (
    <Loaded
      query={proposals}
      what="Proposals"
      skeleton={<SkeletonRows rows={4} label="Loading the proposals" />}
    >
      {(list) =>
        list.length === 0 && state === '' ? (
          <EmptyState icon="git" title="No proposal is open">
            <p>
              {status.policy?.effective.uiEdits === 'propose'
                ? 'An edit of something that git describes becomes one: a branch that waits to be merged.'
                : 'Edits become proposals where the policy says so: “Edits in the UI” in the settings.'}
            </p>
            {toolbar}
          </EmptyState>
        ) : (
          <div className="stack">
            {focus !== '' && (
              <Looked proposal={list.find(({ number }) => String(number) === focus)} status={status} />
            )}
            <DataTable
              caption="Proposals"
              noun="proposal"
              rows={list}
              columns={COLUMNS}
              rowKey={(row) => row.id}
              rowHref={(row) => paths.git(env, { tab: 'proposals', focus: String(row.number) })}
              filterText={(row) => `#${row.number} ${row.title} ${row.branch} ${row.author}`}
              defaultSort="-number"
              toolbar={toolbar}
            />
          </div>
        )
      }
    </Loaded>
  );
};

/** One of them: what it would do, and how it is merged. */
const Looked = ({ proposal, status }: { proposal: Proposal | undefined; status: GitSyncStatus }) => {
  if (!proposal) return null;
  const { number, title, branch, base, author, createdAt, state } = proposal;
  return (
    <Section
      title={`#${number} ${title}`}
      beside={<Badge tone={STATE[state].tone}>{STATE[state].word}</Badge>}
    >
      <div className="section-body stack">
        <p>
          By {author}, <Time at={createdAt} />: <span className="mono breakable">{branch}</span> into{' '}
          <span className="mono">{base}</span>.
        </p>
        <span className="button-row">
          <Link to={paths.git(status.environmentId, { tab: 'plan', ref: branch })} className="button">
            Plan of this branch
          </Link>
        </span>
        {state === 'open' && (
          <>
            <p className="muted">Merge it in a clone, and push:</p>
            <CommandBlock
              label="commands that merge it"
              lines={[
                `git fetch origin && git switch ${base} && git pull`,
                `git merge origin/${branch}`,
                `git push origin ${base}`,
              ]}
            />
          </>
        )}
      </div>
    </Section>
  );
};
