import type { TeamOverview } from '../../../../../schemas/api/identity/people.ts';
import type { GroupsView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { followedText } from './live-fields.ts';

interface Props {
  groups: GroupsView;
  teams: readonly TeamOverview[];
  /** The file that HEADGATE_OIDC_FILE names says it: it is changed there. */
  isFromFile: boolean;
}

/** Groups that mean more than the standard role, in the default team alone. */
export const DefaultRoleForm = ({ groups, teams, isFromFile }: Props) => {
  const of = useDraft({
    adminGroups: groups.adminGroups ?? '',
    editorGroups: groups.editorGroups ?? '',
  });
  const { adminGroups, editorGroups } = of.draft;
  const team = teams.find(({ id }) => id === groups.defaultTeamId);
  const save = useUserMutation({
    run: of.sending(() =>
      api.settings.updateOidcRoleMapping.mutate({
        defaultRole: groups.defaultRole,
        adminGroups: adminGroups.trim(),
        editorGroups: editorGroups.trim(),
      }),
    ),
    done: (followed) => `Roles by group are saved. ${followedText(followed)}`,
    after: of.reset,
  });
  return (
    <Section title="Roles in the default team">
      <MutationForm
        mutation={save}
        submit="Save the roles"
        working="Saving…"
        disabled={!of.isChanged}
        fieldset={{ disabled: isFromFile, legend: 'Roles in the default team' }}
        autoComplete="off"
      >
        <p className="muted">
          {team
            ? `In ${team.name}, people of these groups are more than the standard role says, where no mapping matches.`
            : 'There is no such team: choose one above, and save it, for these to have a meaning.'}
        </p>
        <FieldPair>
          <DraftField
            of={of}
            name="adminGroups"
            label="Groups of admins"
            maxLength={4_000}
            autoComplete="off"
            hint="Names, with commas between."
          />
          <DraftField
            of={of}
            name="editorGroups"
            label="Groups of editors"
            maxLength={4_000}
            autoComplete="off"
            hint="Names, with commas between."
          />
        </FieldPair>
      </MutationForm>
    </Section>
  );
};
