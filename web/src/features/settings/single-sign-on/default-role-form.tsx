import { useState } from 'react';
import type { TeamOverview } from '../../../../../schemas/api/identity/people.ts';
import type { GroupsView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { Field } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
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
  const [adminGroups, setAdmin] = useState(groups.adminGroups ?? '');
  const [editorGroups, setEditor] = useState(groups.editorGroups ?? '');
  const team = teams.find(({ id }) => id === groups.defaultTeamId);
  const save = useUserMutation({
    run: () =>
      api.settings.updateOidcRoleMapping.mutate({
        defaultRole: groups.defaultRole,
        adminGroups: adminGroups.trim(),
        editorGroups: editorGroups.trim(),
      }),
    done: (followed) => `Roles by group are saved. ${followedText(followed)}`,
  });
  const unchanged =
    adminGroups.trim() === (groups.adminGroups ?? '') && editorGroups.trim() === (groups.editorGroups ?? '');
  return (
    <Section title="Roles in the default team">
      <MutationForm
        mutation={save}
        submit="Save the roles"
        working="Saving…"
        disabled={unchanged}
        fieldset={{ disabled: isFromFile, legend: 'Roles in the default team' }}
        autoComplete="off"
      >
        <p className="muted">
          {team
            ? `In ${team.name}, people of these groups are more than the standard role says, where no mapping matches.`
            : 'There is no such team: choose one above, and save it, for these to have a meaning.'}
        </p>
        <FieldPair>
          <Field
            label="Groups of admins"
            value={adminGroups}
            onChange={setAdmin}
            mono
            maxLength={4_000}
            autoComplete="off"
            hint="Names, with commas between."
          />
          <Field
            label="Groups of editors"
            value={editorGroups}
            onChange={setEditor}
            mono
            maxLength={4_000}
            autoComplete="off"
            hint="Names, with commas between."
          />
        </FieldPair>
      </MutationForm>
    </Section>
  );
};
