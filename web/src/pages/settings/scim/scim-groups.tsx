import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'react-router';
import type { TeamOverview, UserSummary } from '../../../../../schemas/api/people.ts';
import type { TeamMapping } from '../../../../../schemas/api/settings.ts';
import { queries } from '../../../api/queries.ts';
import { Badge } from '../../../components/bits.tsx';
import { type Column, DataTable } from '../../../components/data-table.tsx';
import { Section } from '../../../components/page.tsx';
import { Loaded, SkeletonRows } from '../../../components/states.tsx';
import { ROLE_WORDS } from '../people/roles.tsx';

interface Group {
  name: string;
  members: number;
  /** Where it leads, in words; empty is nowhere. */
  leads: readonly string[];
}

interface Props {
  mappings: readonly TeamMapping[];
  enabled: boolean;
}

/** The groups of everybody here, by SCIM and by sign-in, and where they lead. */
function groupsOf(
  users: readonly UserSummary[],
  mappings: readonly TeamMapping[],
  teams: readonly TeamOverview[],
): Group[] {
  const members = new Map<string, number>();
  for (const { groups } of users)
    for (const name of new Set(groups)) members.set(name, (members.get(name) ?? 0) + 1);
  const nameOf = (teamId: string): string => teams.find(({ id }) => id === teamId)?.name ?? 'a team';
  return [...members].map(([name, count]) => ({
    name,
    members: count,
    leads: mappings
      .filter(({ group }) => group === name)
      .map(({ teamId, role }) => `${nameOf(teamId)} as ${ROLE_WORDS[role]}`),
  }));
}

const COLUMNS: readonly Column<Group>[] = [
  {
    key: 'name',
    title: 'Group',
    sort: (row) => row.name.toLowerCase(),
    cell: (row) => <span className="mono">{row.name}</span>,
  },
  {
    key: 'members',
    title: 'People here',
    width: '112px',
    align: 'end',
    sort: (row) => row.members,
    cell: (row) => row.members,
  },
  {
    key: 'leads',
    title: 'Leads to',
    width: '46%',
    sort: (row) => row.leads.join() || null,
    cell: (row) =>
      row.leads.length > 0 ? (
        <span data-tip={row.leads.join(', ')}>{row.leads.join(', ')}</span>
      ) : (
        <Badge tone="unknown" icon="dash" tip="No mapping names it">
          Nowhere
        </Badge>
      ),
  },
];

export const ScimGroups = ({ mappings, enabled }: Props) => {
  const users = useQuery(queries.users());
  const teams = useQuery(queries.allTeams());
  return (
    <Section title="Groups">
      <Loaded query={users} what="Groups" skeleton={<SkeletonRows rows={4} label="Loading the groups" />}>
        {(list) => <GroupList users={list} teams={teams.data ?? []} {...{ mappings, enabled }} />}
      </Loaded>
      <div className="section-foot muted">
        Where a group leads is set under <Link to="?tab=sso">Single sign-on</Link>, for SCIM too. A name has
        to match to the letter.
      </div>
    </Section>
  );
};

interface ListProps extends Props {
  users: readonly UserSummary[];
  teams: readonly TeamOverview[];
}

const GroupList = ({ users, teams, mappings, enabled }: ListProps) => {
  const groups = useMemo(() => groupsOf(users, mappings, teams), [users, mappings, teams]);
  if (groups.length === 0) {
    return (
      <div className="section-body">
        <p className="muted">
          {enabled
            ? 'No group with somebody in it has come yet. Assign groups to the application at the provider.'
            : 'No group is known yet: they come by SCIM, and with sign-ins that tell them.'}
        </p>
      </div>
    );
  }
  return (
    <DataTable
      caption="Groups"
      noun="group"
      rows={groups}
      columns={COLUMNS}
      rowKey={(row) => row.name}
      filterText={(row) => `${row.name} ${row.leads.join(' ')}`}
      defaultSort="name"
    />
  );
};
