import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Me } from '../../../../schemas/api/identity/people.ts';
import { api } from '../../api/client.ts';
import { queries } from '../../api/queries/index.ts';
import { useTeamIfAny } from '../../app/scope.tsx';
import { notify } from '../../ui/feedback/toast.tsx';
import { NameField } from '../../ui/form/field.tsx';
import { MutationForm } from '../../ui/form/mutation-form.tsx';
import { useDraft } from '../../ui/form/use-draft.ts';
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
      <NameForm me={me} />
    </>
  );
};

const NameForm = ({ me }: { me: Me }) => {
  const queryClient = useQueryClient();
  const { draft, set, reset, sending } = useDraft({ name: me.name });
  const name = draft.name.trim();
  const save = useMutation({
    mutationFn: sending(() => api.user.updateProfile.mutate({ name })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: queries.me().queryKey });
      reset();
      notify('Your name was saved.');
    },
  });
  return (
    <MutationForm
      mutation={save}
      submit="Save"
      working="Saving…"
      disabled={name === '' || name === me.name}
      fieldset={{ disabled: false, legend: 'Your name' }}
    >
      <NameField
        value={draft.name}
        onChange={(next) => set({ name: next })}
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
