import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { Field, NameField, SelectField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { ROLES, roleMeans } from '../accounts/roles.tsx';
import { GivenPassword } from '../accounts/temporary-password.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

export const NewUserDialog = ({ opened, close }: { opened: boolean; close: () => void }) => (
  <Dialog title="Make a user" opened={opened} close={close}>
    {opened && <NewUserForm close={close} />}
  </Dialog>
);

const NewUserForm = ({ close }: { close: () => void }) => {
  const teams = useQuery(queries.allTeams());
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [teamId, setTeamId] = useState('');
  const [role, setRole] = useState<Role>('VIEWER');
  const make = useUserMutation({
    run: () =>
      api.admin.createUser.mutate({
        email: email.trim(),
        name: name.trim(),
        ...(teamId ? { teamId, role } : {}),
      }),
    done: () => null,
  });
  if (make.data)
    return (
      <GivenPassword
        name={name.trim()}
        password={make.data.password}
        expiresAt={make.data.expiresAt}
        close={close}
      />
    );
  return (
    <MutationForm
      mutation={make}
      close={close}
      submit="Make the user"
      working="Making the user…"
      disabled={!name.trim() || !email.includes('@')}
      autoComplete="off"
    >
      <NameField value={name} onChange={setName} autoFocus placeholder="Ada Lovelace" />
      <Field
        label="Email"
        type="email"
        value={email}
        onChange={setEmail}
        required
        maxLength={320}
        autoComplete="off"
        hint="They sign in with it. Whatever the case, nobody else may have it."
      />
      <SelectField
        label="Team"
        value={teamId}
        onChange={setTeamId}
        options={[
          { value: '', word: 'None yet' },
          ...(teams.data ?? []).map((team) => ({ value: team.id, word: team.name })),
        ]}
        hint={teamId ? undefined : 'Without a team they see nothing but their own account.'}
      />
      {teamId && (
        <SelectField label="Role" value={role} onChange={setRole} options={ROLES} hint={roleMeans(role)} />
      )}
      <p className="muted">
        A temporary password is made for them and shown once. Users of the identity provider need no account
        made here.
      </p>
    </MutationForm>
  );
};
