import { FleetLimits, type FleetView } from '../../../../../schemas/api/settings.ts';
import { api } from '../../../api/client.ts';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { formatDuration } from '../../../ui/text/format.ts';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { numberProblem, wholeNumber } from './whole-number.ts';

interface Draft {
  /** Seconds. */
  interval: string;
  threshold: string;
  metricsDays: string;
  logsDays: string;
  /** MiB. */
  logsPerNode: string;
  logsTotal: string;
  versions: string;
}

const INTERVAL = {
  minimum: FleetLimits.pollIntervalMs.minimum / 1_000,
  maximum: FleetLimits.pollIntervalMs.maximum / 1_000,
};

const draftOf = (fleet: FleetView): Draft => ({
  interval: String(fleet.pollIntervalMs / 1_000),
  threshold: String(fleet.unhealthyThreshold),
  metricsDays: String(fleet.metricsRetentionDays),
  logsDays: String(fleet.logsRetentionDays),
  logsPerNode: String(fleet.logsMibPerNodeHour),
  logsTotal: String(fleet.logsMibTotal),
  versions: String(fleet.pipelineVersionsRetained),
});

/** How often nodes ask, when silence is a fault, how long what they tell is kept. */
export const FleetForm = ({ fleet }: { fleet: FleetView }) => {
  const of = useDraft(draftOf(fleet));
  const { draft } = of;
  const interval = secondsOf(draft.interval);
  const threshold = wholeNumber(draft.threshold, FleetLimits.unhealthyThreshold);
  const metricsDays = wholeNumber(draft.metricsDays, FleetLimits.retentionDays);
  const logsDays = wholeNumber(draft.logsDays, FleetLimits.retentionDays);
  const logsPerNode = wholeNumber(draft.logsPerNode, FleetLimits.logsMibPerNodeHour);
  const logsTotal = wholeNumber(draft.logsTotal, FleetLimits.logsMibTotal);
  const versions = wholeNumber(draft.versions, FleetLimits.pipelineVersionsRetained);
  const save = useUserMutation({
    run: of.sending(() =>
      api.settings.updateFleet.mutate({
        pollIntervalMs: Math.round((interval ?? 0) * 1_000),
        unhealthyThreshold: threshold ?? 0,
        metricsRetentionDays: metricsDays ?? 0,
        logsRetentionDays: logsDays ?? 0,
        pipelineVersionsRetained: versions ?? 0,
        logsMibPerNodeHour: logsPerNode ?? 0,
        logsMibTotal: logsTotal ?? 0,
      }),
    ),
    done: () => 'The fleet settings are saved. Nodes follow with their next poll.',
    after: of.reset,
  });
  const wrong = [interval, threshold, metricsDays, logsDays, versions, logsPerNode, logsTotal].includes(null);
  return (
    <Section title="Fleet">
      <MutationForm
        mutation={save}
        submit="Save the fleet settings"
        working="Saving…"
        disabled={wrong || !of.isChanged}
        fieldset={{ disabled: false, legend: 'Fleet' }}
        autoComplete="off"
      >
        <FieldPair>
          <DraftField
            of={of}
            name="interval"
            label="Seconds between two polls"
            mono={false}
            inputMode="decimal"
            problem={
              interval === null ? `A number of seconds from ${INTERVAL.minimum} to ${INTERVAL.maximum}.` : ''
            }
            hint="Of every node. A change of a pipeline is pushed and does not wait for it."
          />
          <DraftField
            of={of}
            name="threshold"
            label="Missed polls until UNREACHABLE"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(draft.threshold, FleetLimits.unhealthyThreshold)}
            hint="Low finds faults early; high forgives a slow network."
          />
        </FieldPair>
        <p className="rule-words" role="status">
          {interval !== null && threshold !== null && (
            <>
              A node that says nothing for <strong>{formatDuration(interval * threshold)}</strong> is shown as
              UNREACHABLE. A node with a longer interval of its own has that many of its own.
            </>
          )}
        </p>
        <FieldPair>
          <DraftField
            of={of}
            name="metricsDays"
            label="Days that metrics are kept"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(draft.metricsDays, FleetLimits.retentionDays)}
          />
          <DraftField
            of={of}
            name="logsDays"
            label="Days that log lines are kept"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(draft.logsDays, FleetLimits.retentionDays)}
            hint={
              logsDays !== null && logsDays < fleet.logsRetentionDays
                ? 'Older lines are deleted soon, and do not come back.'
                : 'And up to a day longer.'
            }
          />
        </FieldPair>
        <FieldPair>
          <DraftField
            of={of}
            name="logsPerNode"
            label="MiB of log lines of a node in an hour"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(draft.logsPerNode, FleetLimits.logsMibPerNodeHour)}
            hint="A node that writes more keeps its newest lines and leaves out the rest."
          />
          <DraftField
            of={of}
            name="logsTotal"
            label="MiB of all log lines"
            mono={false}
            inputMode="numeric"
            problem={numberProblem(draft.logsTotal, FleetLimits.logsMibTotal)}
            hint={
              logsTotal !== null && logsTotal < fleet.logsMibTotal
                ? 'If more is stored, the oldest days are deleted soon and do not come back.'
                : 'Above, the oldest day is deleted.'
            }
          />
        </FieldPair>
        <DraftField
          of={of}
          name="versions"
          label="Versions that each pipeline keeps at least"
          mono={false}
          inputMode="numeric"
          problem={numberProblem(draft.versions, FleetLimits.pipelineVersionsRetained)}
          hint={
            versions !== null && versions < fleet.pipelineVersionsRetained
              ? 'Older ones are deleted in the next night, and do not come back.'
              : 'What runs, is promoted, held, or was deployed in the last 90 days stays beside them.'
          }
        />
      </MutationForm>
    </Section>
  );
};

/** Exact to a millisecond; null where it is no such number. */
function secondsOf(text: string): number | null {
  if (!/^\d+(\.\d{1,3})?$/.test(text.trim())) return null;
  const seconds = Number(text);
  return seconds >= INTERVAL.minimum && seconds <= INTERVAL.maximum ? seconds : null;
}
