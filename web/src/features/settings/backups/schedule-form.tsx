import type { BackupSchedule } from '../../../../../schemas/api/backups.ts';
import { api } from '../../../api/client.ts';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { CheckboxField } from '../../../ui/form/checkbox-field.tsx';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { Time } from '../../../ui/primitives/time.tsx';
import { formatExact } from '../../../ui/text/format.ts';
import { numberProblem, wholeNumber } from '../server/whole-number.ts';
import { useBackupMutation } from './backup-mutation.ts';
import { cronWords } from './cron-words.ts';

const LIMITS = { minimum: 1, maximum: 1_000 };
const CRON_CHARS = 100;

export const ScheduleForm = ({ schedule }: { schedule: BackupSchedule }) => {
  const of = useDraft({
    enabled: schedule.enabled,
    cron: schedule.cron,
    count: String(schedule.retentionCount),
  });
  const { enabled, cron, count } = of.draft;
  const retentionCount = wholeNumber(count, LIMITS);
  const save = useBackupMutation({
    run: of.sending(() =>
      api.settings.updateBackupSchedule.mutate({
        enabled,
        cron: cron.trim(),
        retentionCount: retentionCount ?? 1,
      }),
    ),
    done: () => (enabled ? 'Backups are made by the schedule.' : 'No backups are made by a schedule.'),
    after: of.reset,
  });
  const { lastRun, nextRuns } = schedule;
  return (
    <Section title="Schedule">
      <MutationForm
        mutation={save}
        submit="Save the schedule"
        working="Saving…"
        disabled={!of.isChanged || retentionCount === null || cron.trim() === ''}
        fieldset={{ disabled: false, legend: 'Schedule' }}
      >
        {lastRun?.status === 'FAILED' && (
          <Notice tone="failed" icon="warning">
            The last scheduled backup failed (<Time at={lastRun.finishedAt} />
            ): {lastRun.error}
          </Notice>
        )}
        <CheckboxField
          label="Make backups on a schedule"
          hint="One that was missed while Headgate was down is made up for once."
          checked={enabled}
          onChange={(next) => of.set({ enabled: next })}
        />
        <FieldPair>
          <DraftField
            of={of}
            name="cron"
            label="When, as cron in UTC"
            required
            autoComplete="off"
            maxLength={CRON_CHARS}
            hint={cronWords(cron) ?? 'Minute, hour, day of the month, month, day of the week.'}
          />
          <DraftField
            of={of}
            name="count"
            label="Scheduled backups that stay"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(count, LIMITS)}
            hint="The oldest go first. Those made by hand stay."
          />
        </FieldPair>
        {nextRuns.length > 0 && (
          <p className="muted">Next: {nextRuns.map((at) => formatExact(at)).join(' · ')}</p>
        )}
        {lastRun && lastRun.status !== 'FAILED' && (
          <p className="muted">
            Last scheduled backup: <Time at={lastRun.startedAt} />
            {lastRun.status === 'RUNNING' && ', still running'}
          </p>
        )}
      </MutationForm>
    </Section>
  );
};
