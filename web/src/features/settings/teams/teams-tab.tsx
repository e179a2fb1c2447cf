import { Stack } from '@mantine/core';
import '../accounts/accounts.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queries } from '../../../api/queries/index.ts';
import { useAddressParam } from '../../../app/search-params.ts';
import { EmptyState, Loaded, SkeletonRows } from '../../../ui/feedback/page-states.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { DataTable } from '../../../ui/table/data-table.tsx';
import { teamColumns } from './team-columns.tsx';
import { type TeamAction, TeamDialogs } from './team-dialogs.tsx';

/** All teams of the server. */
export const TeamsTab = () => {
  const teams = useQuery(queries.allTeams());
  const [chosen, setChosen] = useState<TeamAction | null>(null);
  const [making, setMaking] = useAddressParam('new', { replace: true });
  const action: TeamAction | null = chosen ?? (making ? { kind: 'create' } : null);
  const close = (): void => {
    setChosen(null);
    if (making) setMaking('');
  };
  const make = (
    <Button icon="plus" kind="primary" onClick={() => setMaking('1')}>
      Make a team
    </Button>
  );
  return (
    <Stack gap="md">
      <div className="tab-head">
        <p className="muted">
          A team has environments and members; nobody else sees what is in them. You are an admin of every
          one.
        </p>
        {teams.data?.length === 0 ? null : make}
      </div>
      <Loaded query={teams} what="Teams" skeleton={<SkeletonRows rows={6} label="Loading teams" />}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon="user" title="No teams yet">
              <p>Environments belong to a team, and so do the people who work in them. Begin with one.</p>
              {make}
            </EmptyState>
          ) : (
            <DataTable
              caption="Teams"
              noun="team"
              rows={list}
              columns={teamColumns(setChosen)}
              rowKey={(row) => row.id}
              filterText={(row) => row.name}
              defaultSort="name"
              remember="teams"
            />
          )
        }
      </Loaded>
      <TeamDialogs action={action} close={close} />
    </Stack>
  );
};
