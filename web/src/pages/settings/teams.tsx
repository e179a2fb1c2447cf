import '../../styles/people.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { queries } from '../../api/queries.ts';
import { useAddressParam } from '../../app/address.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Icon } from '../../components/icons.tsx';
import { EmptyState, Loaded, SkeletonRows } from '../../components/states.tsx';
import { teamColumns } from './teams/team-columns.tsx';
import { type TeamAction, TeamDialogs } from './teams/team-dialogs.tsx';

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
    <button type="button" className="button" data-kind="primary" onClick={() => setMaking('1')}>
      <Icon name="plus" /> Make a team
    </button>
  );
  return (
    <div className="stack">
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
    </div>
  );
};
