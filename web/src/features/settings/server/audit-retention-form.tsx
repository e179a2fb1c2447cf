import { Input } from '@mantine/core';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { Field } from '../../../ui/form/field.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { SegmentedControl } from '../../../ui/primitives/segmented-control.tsx';
import { plural } from '../../../ui/text/format.ts';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { numberProblem, wholeNumber } from './whole-number.ts';

const LIMITS = { minimum: 30, maximum: 36_500 };
/** What is offered first: a year. */
const STANDARD = '365';

const KEPT = [
  { value: 'ever', word: 'For ever' },
  { value: 'days', word: 'For some days' },
] as const;

interface Draft {
  kept: (typeof KEPT)[number]['value'];
  text: string;
}

export const AuditRetentionForm = ({ retentionDays }: { retentionDays: number | null }) => {
  const { draft, set, reset } = useDraft<Draft>(
    retentionDays === null ? { kept: 'ever', text: STANDARD } : { kept: 'days', text: String(retentionDays) },
  );
  const { kept, text } = draft;
  const days = kept === 'ever' ? null : wholeNumber(text, LIMITS);
  const wrong = kept === 'days' && days === null;
  const save = useUserMutation({
    run: () => api.settings.updateAudit.mutate({ retentionDays: days }),
    done: () =>
      days === null ? 'The audit log is kept for ever.' : `The audit log is kept for ${plural(days, 'day')}.`,
    after: reset,
  });
  const shorter = days !== null && (retentionDays === null || days < retentionDays);
  return (
    <Section title="Audit log">
      <MutationForm
        mutation={save}
        submit="Save the retention"
        working="Saving…"
        disabled={wrong || days === retentionDays}
        fieldset={{ disabled: false, legend: 'Audit log' }}
        confirm={shorter && !wrong ? 'delete' : null}
        confirmField={{ autoFocus: false }}
      >
        <Input.Wrapper labelElement="div" label="It is kept">
          <SegmentedControl
            label="It is kept"
            value={kept}
            options={KEPT}
            onChange={(next) => set({ kept: next })}
          />
        </Input.Wrapper>
        {kept === 'days' && (
          <Field
            label="Days"
            value={text}
            onChange={(next) => set({ text: next })}
            inputMode="numeric"
            problem={numberProblem(text, LIMITS)}
            hint="At least 30."
          />
        )}
        {shorter && (
          <Notice icon="warning" tone="held">
            Events that are older than {plural(days, 'day')} are deleted, and do not come back. The chain of
            hashes begins at the oldest that is left. Export what you have to keep before.
          </Notice>
        )}
      </MutationForm>
    </Section>
  );
};
