import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import type { UserSummary } from '../../../../../schemas/api/people.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries.ts';
import { SelectField } from '../../../components/field.tsx';
import { Icon } from '../../../components/icons.tsx';
import { Section } from '../../../components/page.tsx';
import { InlineError } from '../../../components/states.tsx';
import { Source, whyInTeam } from '../people/account-badges.tsx';
import { aRole, ROLES, RoleSelect } from '../people/roles.tsx';
import { usePeopleAction } from '../people/use-people-action.ts';
import type { UserAction } from './user-dialogs.tsx';

interface Props {
  user: UserSummary;
  act: (action: UserAction) => void;
}

/** The teams of one person, with the role in each and where it comes from. */
export const UserTeams = ({ user, act }: Props) => (
  <Section title="Teams">
    {user.teams.length === 0 ? (
      <div className="section-body">
        <p className="muted">In no team: {user.name} sees nothing but their own account.</p>
      </div>
    ) : (
      <table className="table table-ruled">
        <caption className="sr-only">Teams of {user.name}</caption>
        <tbody>
          {user.teams.map((team) => (
            <tr key={team.id}>
              <th scope="row">{team.name}</th>
              <td>
                <RoleSelect
                  label={`Role in ${team.name}`}
                  value={team.role}
                  onChange={(role) => act({ kind: 'role', team, role })}
                />
              </td>
              <td className="muted">
                <Source source={team.source} />
              </td>
              <td data-align="end">
                <button
                  type="button"
                  className="button"
                  data-size="small"
                  disabled={team.source === 'group'}
                  data-tip={whyInTeam(team.source) ?? undefined}
                  onClick={() => act({ kind: 'leaveTeam', team })}
                >
                  Remove<span className="sr-only"> from {team.name}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
    <AssignForm user={user} />
  </Section>
);

const AssignForm = ({ user }: { user: UserSummary }) => {
  const teams = useQuery(queries.allTeams());
  const [wanted, setTeamId] = useState('');
  const [role, setRole] = useState<Role>('VIEWER');
  const others = (teams.data ?? []).filter(({ id }) => !user.teams.some((team) => team.id === id));
  // A team that was chosen may be one of theirs by now, or be gone.
  const team = others.find(({ id }) => id === wanted);
  const assign = usePeopleAction({
    run: (teamId: string) => api.admin.assignToTeam.mutate({ userId: user.id, teamId, role }),
    done: () => `${user.name} is ${aRole(role)} of ${team?.name ?? 'the team'}.`,
    after: () => setTeamId(''),
  });
  if (teams.data && others.length === 0) return null;
  return (
    <form
      className="section-body form assign"
      onSubmit={(event) => {
        event.preventDefault();
        if (team) assign.mutate(team.id);
      }}
    >
      <div className="inline-form">
        <SelectField
          label="Another team"
          value={team ? wanted : ''}
          onChange={setTeamId}
          options={[
            { value: '', word: 'Choose a team' },
            ...others.map(({ id, name }) => ({ value: id, word: name })),
          ]}
        />
        <SelectField label="Role" value={role} onChange={setRole} options={ROLES} />
        <button type="submit" className="button" disabled={!team || assign.isPending}>
          <Icon name="plus" /> {assign.isPending ? 'Adding…' : 'Add to the team'}
        </button>
      </div>
      {assign.isError && <InlineError error={assign.error} />}
    </form>
  );
};
