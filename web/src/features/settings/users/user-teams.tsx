import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import type { UserSummary } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { InlineError } from '../../../ui/feedback/page-states.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { Button } from '../../../ui/primitives/button.tsx';
import { Section } from '../../../ui/primitives/page.tsx';
import { Source } from '../accounts/account-badges.tsx';
import { whyInTeam } from '../accounts/account-text.ts';
import { aRole, ROLES, RoleSelect } from '../accounts/roles.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';
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
                <Button
                  size="small"
                  disabled={team.source === 'group'}
                  tip={whyInTeam(team.source) ?? undefined}
                  onClick={() => act({ kind: 'leaveTeam', team })}
                >
                  Remove<span className="sr-only"> from {team.name}</span>
                </Button>
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
  // The user may be in the chosen team by now, or it may be gone.
  const team = others.find(({ id }) => id === wanted);
  const assign = useUserMutation({
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
        <Button icon="plus" type="submit" disabled={!team || assign.isPending}>
          {assign.isPending ? 'Adding…' : 'Add to the team'}
        </Button>
      </div>
      {assign.isError && <InlineError error={assign.error} />}
    </form>
  );
};
