import { useState } from 'react';
import type { Role } from '../../../../../schemas/api/common.ts';
import type { TeamDetail } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { Field, SelectField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { Dialog } from '../../../ui/primitives/dialog.tsx';
import { aRole, ROLES, roleMeans } from '../accounts/roles.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

interface Props {
  team: TeamDetail;
  opened: boolean;
  close: () => void;
}

export const AddMemberDialog = ({ team, opened, close }: Props) => (
  <Dialog title={`Add a member to ${team.name}`} opened={opened} close={close}>
    {opened && <AddForm team={team} close={close} />}
  </Dialog>
);

const AddForm = ({ team, close }: Omit<Props, 'opened'>) => {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('VIEWER');
  const add = useUserMutation({
    run: () => api.team.addMember.mutate({ teamId: team.id, email: email.trim(), role }),
    done: () => `${email.trim()} is ${aRole(role)} of ${team.name}.`,
    after: close,
  });
  return (
    <MutationForm
      mutation={add}
      close={close}
      submit="Add the member"
      working="Adding…"
      disabled={!email.includes('@')}
      autoComplete="off"
    >
      <Field
        label="Email"
        type="email"
        value={email}
        onChange={setEmail}
        required
        autoFocus
        maxLength={320}
        autoComplete="off"
        hint="Of somebody who has an account. Accounts are made by a super admin, or by the identity provider."
      />
      <SelectField label="Role" value={role} onChange={setRole} options={ROLES} hint={roleMeans(role)} />
    </MutationForm>
  );
};
