import { useState } from 'react';
import { api } from '../../../api/client.ts';
import { Field } from '../../../components/field.tsx';
import { plural } from '../../../components/format.ts';
import { Icon } from '../../../components/icons.tsx';
import { MutationForm } from '../../../components/mutation-form.tsx';
import { Section } from '../../../components/page.tsx';
import { Segmented } from '../../../components/segmented.tsx';
import { usePeopleAction } from '../people/use-people-action.ts';
import { numberProblem, wholeNumber } from './whole-number.ts';

const LIMITS = { minimum: 30, maximum: 36_500 };
/** What is offered first: a year. */
const STANDARD = '365';

const KEPT = [
  { value: 'ever', word: 'For ever' },
  { value: 'days', word: 'For some days' },
] as const;

export const AuditRetentionForm = ({ retentionDays }: { retentionDays: number | null }) => {
  const [kept, setKept] = useState<(typeof KEPT)[number]['value']>(retentionDays === null ? 'ever' : 'days');
  const [text, setText] = useState(retentionDays === null ? STANDARD : String(retentionDays));
  const days = kept === 'ever' ? null : wholeNumber(text, LIMITS);
  const wrong = kept === 'days' && days === null;
  const save = usePeopleAction({
    run: () => api.settings.updateAudit.mutate({ retentionDays: days }),
    done: () =>
      days === null ? 'The audit log is kept for ever.' : `The audit log is kept for ${plural(days, 'day')}.`,
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
        <div className="field">
          <span className="field-name">It is kept</span>
          <Segmented label="It is kept" value={kept} options={KEPT} onChange={setKept} />
        </div>
        {kept === 'days' && (
          <Field
            label="Days"
            value={text}
            onChange={setText}
            inputMode="numeric"
            problem={numberProblem(text, LIMITS)}
            hint="At least 30."
          />
        )}
        {shorter && (
          <p className="notice" data-tone="held">
            <Icon name="warning" size={14} />
            <span>
              Events that are older than {plural(days, 'day')} are deleted, and do not come back. The chain of
              hashes begins at the oldest that is left. Export what you have to keep before.
            </span>
          </p>
        )}
      </MutationForm>
    </Section>
  );
};
