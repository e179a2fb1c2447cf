import { Checkbox } from '@mantine/core';
import type { TeamOverview } from '../../../../../schemas/api/identity/people.ts';
import type { GroupsView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { DraftField, DraftText } from '../../../ui/form/draft-fields.tsx';
import { SelectField } from '../../../ui/form/field.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { ROLES, roleMeans } from '../accounts/roles.tsx';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { groupsDraft, groupsInput, problemOfPatterns, problemOfRow, sameGroups } from './groups-draft.ts';
import { followedText } from './live-fields.ts';
import { MappingRows } from './mapping-rows.tsx';

interface Props {
  groups: GroupsView;
  teams: readonly TeamOverview[];
  /** The file that HEADGATE_OIDC_FILE names says it: it is changed there. */
  isFromFile: boolean;
}

/** Which group leads to which team. Groups come with the sign-in, and by SCIM. */
export const GroupsForm = ({ groups, teams, isFromFile }: Props) => {
  const of = useDraft(groupsDraft(groups));
  const { draft, set } = of;
  const wrong = draft.rows.some((row) => problemOfRow(row, draft.rows) !== '');
  const save = useUserMutation({
    run: of.sending(() => api.settings.updateOidcTeamMappings.mutate(groupsInput(draft))),
    done: (followed) => ['Groups are saved.', followedText(followed), ...followed.warnings].join(' '),
    after: of.reset,
  });
  return (
    <Section title="Groups lead to teams">
      <MutationForm
        mutation={save}
        submit="Save the groups"
        working="Saving…"
        disabled={wrong || problemOfPatterns(draft.patterns) !== '' || sameGroups(draft, groups)}
        fieldset={{ disabled: isFromFile, legend: 'Groups lead to teams' }}
        autoComplete="off"
      >
        <p className="muted">
          Members of a group are members of its team, with its role; of several the highest. When they leave
          the group they leave the team. Memberships that somebody gave by hand are never touched.
        </p>
        <MappingRows rows={draft.rows} teams={teams} onChange={(rows) => set({ rows })} />
        <DraftText
          of={of}
          name="patterns"
          label="Groups whose path names the team"
          placeholder="EDITOR /(?<team>.+)/editors"
          problem={problemOfPatterns(draft.patterns)}
          hint="One a line: a role, and a pattern with (?<team>.+) where the name of the team stands."
        />
        {groups.ambiguities.map((words) => (
          <Notice icon="warning" tone="held" key={words}>
            <span className="breakable">Nobody comes into a team by it: {words}.</span>
          </Notice>
        ))}
        <Checkbox
          checked={draft.sync}
          onChange={(event) => set({ sync: event.target.checked })}
          label="Read groups at every sign-in by single sign-on"
        />
        {draft.sync && (
          <FieldPair>
            <DraftField
              of={of}
              name="claim"
              label="Claim with the groups"
              placeholder="groups"
              maxLength={200}
              autoComplete="off"
              hint="Of the id token or of userinfo. Empty: groups."
            />
            <DraftField
              of={of}
              name="scope"
              label="Scope that asks for it"
              placeholder="none"
              maxLength={200}
              autoComplete="off"
              hint="Where the provider wants one, beside openid, profile and email."
            />
          </FieldPair>
        )}
        <FieldPair>
          <SelectField
            label="Default team, for users without a matching group"
            value={draft.defaultTeamId}
            onChange={(defaultTeamId) => set({ defaultTeamId })}
            options={[
              { value: '', word: 'None: they see nothing' },
              ...teams.map(({ id, name }) => ({ value: id, word: name })),
            ]}
            hint="For people who sign in by single sign-on."
          />
          <SelectField
            label="Role there"
            value={draft.defaultRole}
            onChange={(defaultRole) => set({ defaultRole })}
            options={ROLES}
            hint={roleMeans(draft.defaultRole)}
          />
        </FieldPair>
        <p className="muted">
          Saving changes memberships at once: of everybody whose groups are known. Whose role changes is
          signed out.
        </p>
      </MutationForm>
    </Section>
  );
};
