import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Me } from '../../../../schemas/api/identity/people.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { useTeamIfAny } from '../../app/scope.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { NameField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { ShortId } from '../../ui/primitives/copyable.tsx';
import { Fact } from '../../ui/primitives/fact.tsx';

/** Who one is here: the name can be changed, where no identity provider says it. */
export const Profile = ({ me }: { me: Me }) => {
  const team = useTeamIfAny();
  return (
    <>
      <div className="section-body">
        <dl className="facts">
          <Fact name="Email">{me.email}</Fact>
          {team && <Fact name={`Role in ${team.name}`}>{word(team.role)}</Fact>}
          {me.isSuperAdmin && <Fact name="On the server">Super admin</Fact>}
          <Fact name="Id">
            <ShortId id={me.id} />
          </Fact>
        </dl>
      </div>
      <NameForm key={me.name} me={me} />
    </>
  );
};

const NameForm = ({ me }: { me: Me }) => {
  const queryClient = useQueryClient();
  const [name, setName] = useState(me.name);
  const save = useMutation({
    mutationFn: () => api.user.updateProfile.mutate({ name: name.trim() }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queries.me().queryKey });
      notify('Your name was saved.');
    },
  });
  return (
    <MutationForm
      mutation={save}
      submit="Save"
      working="Saving…"
      disabled={name.trim() === '' || name.trim() === me.name}
      fieldset={{ disabled: false, legend: 'Your name' }}
    >
      <NameField
        value={name}
        onChange={setName}
        hint={
          me.authMethod === 'OIDC'
            ? 'The identity provider sets it each time that you sign in there.'
            : 'As others see it, and as the audit log keeps it.'
        }
      />
    </MutationForm>
  );
};

const word = (role: string): string => role.charAt(0) + role.slice(1).toLowerCase();
