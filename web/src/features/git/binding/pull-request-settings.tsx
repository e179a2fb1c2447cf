import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { PullRequestSettings } from '../../../../../schemas/api/delivery/forges.ts';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { notify } from '../../../ui/feedback/toast.tsx';
import { CheckboxField } from '../../../ui/form/checkbox-field.tsx';
import { DraftField, DraftText } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { useRenewGit } from '../overrides/override-mutations.ts';
import { requestDraft, requestInput, whatForgeHas } from './pull-request-draft.ts';

interface Props {
  status: GitSyncStatus;
  settings: PullRequestSettings;
  mayEdit: boolean;
}

/** What the pull requests are like that Headgate opens, and what becomes of their branches. */
export const PullRequestSettingsForm = ({ status, settings, mayEdit }: Props) => {
  const queryClient = useQueryClient();
  const renew = useRenewGit();
  const of = useDraft(requestDraft(settings));
  const { draft, set } = of;
  const name = status.forge?.name ?? 'none';
  const onForge = name !== 'none';
  const has = whatForgeHas(name);
  const save = useMutation({
    mutationFn: of.sending(() =>
      api.gitSync.configure.mutate({
        environmentId: status.environmentId,
        mode: status.mode,
        pullRequests: requestInput(draft, name),
      }),
    ),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.git(status.environmentId).queryKey, saved);
      of.reset();
      notify('The next pull request is opened like this.');
      await renew();
    },
  });
  return (
    <Section title="Pull requests that Headgate opens">
      <MutationForm
        mutation={save}
        submit="Save"
        working="Saving…"
        disabled={!of.isChanged}
        fieldset={{ disabled: !mayEdit, legend: 'Pull requests that Headgate opens' }}
        autoComplete="off"
      >
        <CheckboxField
          label="Delete the branch of a promotion once its pull request is merged or closed"
          hint="A branch with commits of others stays, unless it is merged. Reopened here, it is put back."
          checked={draft.deleteBranches}
          onChange={(deleteBranches) => set({ deleteBranches })}
        />
        {onForge && (
          <>
            <CheckboxField
              label="Open them as drafts"
              hint="Somebody says on the forge that they are ready."
              checked={draft.draft}
              onChange={(isDraft) => set({ draft: isDraft })}
            />
            {has.labels && (
              <DraftField
                of={of}
                name="labels"
                label="Labels"
                maxLength={2_000}
                hint="Separated by commas."
              />
            )}
            <FieldPair>
              <DraftField of={of} name="reviewers" label="Reviewers" maxLength={1_600} hint={has.reviewers} />
              {has.assignees && (
                <DraftField
                  of={of}
                  name="assignees"
                  label="Assignees"
                  maxLength={1_100}
                  hint="Names, separated by commas."
                />
              )}
            </FieldPair>
          </>
        )}
        <DraftField
          of={of}
          name="title"
          label="Title"
          maxLength={200}
          placeholder="{{title}}"
          hint="May hold {{title}}, {{kind}}, {{name}}, {{environment}} and {{author}}. Empty: as Headgate writes it."
        />
        <DraftText
          of={of}
          name="body"
          label="Text"
          rows={4}
          maxLength={10_000}
          placeholder="{{body}}"
          hint="Markdown, with the same and {{body}}, which is what Headgate writes."
        />
      </MutationForm>
    </Section>
  );
};
