import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'react-router';
import type { GroupOverview, TeamOverview } from '../../../../../schemas/api/identity/people.ts';
import { queries } from '../../../api/queries/index.ts';
import { Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Badge } from '../../../ui/primitives/badge.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { ROLE_LABELS } from '../accounts/roles.tsx';

interface Group extends GroupOverview {
  /** Where it leads, in words; empty is nowhere. */
  leads: readonly string[];
}

interface Props {
  enabled: boolean;
}

/** Where each leads. */
function groupsOf(groups: readonly GroupOverview[], teams: readonly TeamOverview[]): Group[] {
  const nameOf = (teamId: string): string => teams.find(({ id }) => id === teamId)?.name ?? 'a team';
  return groups.map((each) => ({
    ...each,
    leads: [
      ...each.leadsTo.map(({ teamId, role }) => `${nameOf(teamId)} as ${ROLE_LABELS[role]}`),
      ...(each.superAdmins ? ['super admins'] : []),
    ],
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
    sort: (row) => row.memberCount,
    cell: (row) => row.memberCount,
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
        <Badge tone="unknown" icon="dash" tip="No mapping and no pattern names it">
          Nowhere
        </Badge>
      ),
  },
];

export const ScimGroups = ({ enabled }: Props) => {
  const groups = useQuery(queries.allGroups());
  const teams = useQuery(queries.allTeams());
  return (
    <Section title="Groups">
      <Loaded query={groups} what="Groups" skeleton={<SkeletonRows rows={4} label="Loading the groups" />}>
        {(list) => <GroupList groups={list} teams={teams.data ?? []} enabled={enabled} />}
      </Loaded>
      <div className="section-foot muted">
        Where a group leads is set under <Link to="?tab=sso">Single sign-on</Link>, for SCIM too. A name has
        to match to the letter.
      </div>
    </Section>
  );
};

interface ListProps extends Props {
  groups: readonly GroupOverview[];
  teams: readonly TeamOverview[];
}

const GroupList = ({ groups, teams, enabled }: ListProps) => {
  const rows = useMemo(() => groupsOf(groups, teams), [groups, teams]);
  if (rows.length === 0) {
    return (
      <div className="section-body">
        <p className="muted">
          {enabled
            ? 'No group has come yet. Assign groups to the application at the provider.'
            : 'No group is known yet: they come by SCIM, and with sign-ins that tell them.'}
        </p>
      </div>
    );
  }
  return (
    <DataTable
      caption="Groups"
      noun="group"
      rows={rows}
      columns={COLUMNS}
      rowKey={(row) => row.name}
      filterText={(row) => `${row.name} ${row.leads.join(' ')}`}
      defaultSort="name"
    />
  );
};
