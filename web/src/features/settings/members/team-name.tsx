import type { TeamDetail } from '../../../../../schemas/api/identity/people.ts';
import { api } from '../../../api/client.ts';
import { NameField } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';

export const TeamName = ({ team, mayEdit }: { team: TeamDetail; mayEdit: boolean }) => {
  const { draft, set, reset, sending } = useDraft({ name: team.name });
  const wanted = draft.name.trim();
  const rename = useUserMutation({
    run: sending(() => api.team.rename.mutate({ teamId: team.id, name: wanted })),
    done: () => `The team is called ${wanted}.`,
    after: reset,
  });
  return (
    <Section title="Name of the team">
      <MutationForm
        mutation={rename}
        submit="Rename the team"
        working="Renaming…"
        disabled={!wanted || wanted === team.name}
        fieldset={{ disabled: !mayEdit, legend: 'Name of the team' }}
      >
        <NameField
          value={draft.name}
          onChange={(name) => set({ name })}
          hint="Nothing else changes: manifests do not name the team."
        />
      </MutationForm>
    </Section>
  );
};
