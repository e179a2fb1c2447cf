import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReviewRules } from '../../../../../schemas/api/delivery/forges.ts';
import type { GitSyncStatus } from '../../../../../schemas/api/delivery/git-sync.ts';
import { api } from '../../../api/client.ts';
import { queries } from '../../../api/queries/index.ts';
import { notify } from '../../../ui/feedback/toast.tsx';
import { CheckboxField } from '../../../ui/form/checkbox-field.tsx';
import { Field } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { useRenewGit } from '../overrides/override-mutations.ts';

interface Props {
  status: GitSyncStatus;
  rules: ReviewRules;
  mayEdit: boolean;
}

const MAX_APPROVALS = 10;
const isCount = (text: string): boolean => /^\d+$/.test(text) && Number(text) <= MAX_APPROVALS;

/** How changes come into the branch of the repository that Headgate serves. */
export const ReviewForm = ({ status, rules, mayEdit }: Props) => {
  const queryClient = useQueryClient();
  const renew = useRenewGit();
  const { draft, set, isChanged, reset, sending } = useDraft({
    isProtected: rules.protectBranch,
    approvals: String(rules.requiredApprovals),
  });
  const { isProtected, approvals } = draft;
  const save = useMutation({
    mutationFn: sending(() =>
      api.gitSync.configure.mutate({
        environmentId: status.environmentId,
        mode: status.mode,
        review: { protectBranch: isProtected, requiredApprovals: Number(approvals) },
      }),
    ),
    onSuccess: async (saved) => {
      queryClient.setQueryData(queries.git(status.environmentId).queryKey, saved);
      reset();
      notify('The rules of review are saved, and hold from now on.');
      await renew();
    },
  });
  return (
    <Section title="Review">
      <MutationForm
        mutation={save}
        submit="Save the rules"
        working="Saving…"
        disabled={!isChanged || !isCount(approvals)}
        fieldset={{ disabled: !mayEdit, legend: 'Review' }}
      >
        <CheckboxField
          label={
            <>
              Protect <span className="mono">{status.branch}</span>: only merged pull requests change it
            </>
          }
          hint="A push to it is refused with the way to go: push a branch, and open a pull request."
          checked={isProtected}
          onChange={(next) => set({ isProtected: next })}
        />
        <Field
          label="Approvals that a merge needs"
          value={approvals}
          onChange={(text) => set({ approvals: text.trim() })}
          inputMode="numeric"
          maxLength={2}
          problem={isCount(approvals) ? '' : `A whole number, from 0 to ${MAX_APPROVALS}.`}
          hint={
            isProtected || approvals === '0'
              ? 'Of others than its author, for the commit that is merged.'
              : 'Of others than its author. As long as the branch is not protected, a push goes around them.'
          }
        />
      </MutationForm>
    </Section>
  );
};
