import { Input, Stack } from '@mantine/core';
import {
  ANOMALY_METRICS,
  type AnomalyConfigView,
  AnomalyLimits,
  type AnomalyMetric,
} from '../../../../../schemas/api/insight/anomalies.ts';
import { api } from '../../../api/client.ts';
import { CheckboxField } from '../../../ui/form/checkbox-field.tsx';
import { DraftField } from '../../../ui/form/draft-fields.tsx';
import { FieldPair } from '../../../ui/form/field-pair.tsx';
import { MutationForm } from '../../../ui/form/mutation-form.tsx';
import { useDraft } from '../../../ui/form/use-draft.ts';
import { Section } from '../../../ui/primitives/page.tsx';
import { METRIC_LABELS } from '../../anomalies/anomaly-text.ts';
import { useUserMutation } from '../accounts/user-mutations.ts';
import { numberProblem, wholeNumber } from './whole-number.ts';

interface Draft {
  windowDays: string;
  sigma: string;
  floorPercent: string;
  dedupHours: string;
  metrics: readonly AnomalyMetric[];
}

const draftOf = (config: AnomalyConfigView): Draft => ({
  windowDays: String(config.baselineWindowDays),
  sigma: String(config.sigmaThreshold),
  floorPercent: String(config.minStddevFloorPercent),
  dedupHours: String(config.dedupWindowHours),
  metrics: ANOMALY_METRICS.filter((metric) => config.enabledMetrics.split(',').includes(metric)),
});

const HINTS: Readonly<Record<AnomalyMetric, string>> = {
  eventsIn: 'More or fewer than usual.',
  errors: 'More than usual.',
  latency: 'Higher than usual.',
};

/** What is compared, from when on it is unusual, and how often it is reported. */
export const AnomalyForm = ({ config }: { config: AnomalyConfigView }) => {
  const of = useDraft(draftOf(config));
  const { draft, set } = of;
  const windowDays = wholeNumber(draft.windowDays, AnomalyLimits.baselineWindowDays);
  const sigma = decimal(draft.sigma, AnomalyLimits.sigmaThreshold);
  const floor = decimal(draft.floorPercent, AnomalyLimits.minStddevFloorPercent);
  const dedup = wholeNumber(draft.dedupHours, AnomalyLimits.dedupWindowHours);
  const save = useUserMutation({
    run: of.sending(() =>
      api.settings.updateAnomalyConfig.mutate({
        baselineWindowDays: windowDays ?? 0,
        sigmaThreshold: sigma ?? 0,
        minStddevFloorPercent: floor ?? 0,
        dedupWindowHours: dedup ?? 0,
        enabledMetrics: draft.metrics.join(),
      }),
    ),
    done: () => 'The anomaly settings are saved. The next pass follows them.',
    after: of.reset,
  });
  const wrong = [windowDays, sigma, floor, dedup].includes(null);
  const number = { mono: false, inputMode: 'decimal' } as const;
  return (
    <Section title="Anomalies">
      <MutationForm
        mutation={save}
        submit="Save the anomaly settings"
        working="Saving…"
        disabled={wrong || !of.isChanged}
        fieldset={{ disabled: false, legend: 'Anomalies' }}
        autoComplete="off"
      >
        <FieldPair>
          <DraftField
            {...{ ...number, of, name: 'windowDays' }}
            label="Days that are compared with"
            problem={numberProblem(draft.windowDays, AnomalyLimits.baselineWindowDays)}
            hint="From 21 on, weeks are compared too."
          />
          <DraftField
            {...{ ...number, of, name: 'sigma' }}
            label="Standard deviations until a warning"
            problem={sigma === null ? rangeOf(AnomalyLimits.sigmaThreshold) : ''}
            hint="Low finds more; high has fewer false alarms. One more is critical."
          />
        </FieldPair>
        <FieldPair>
          <DraftField
            {...{ ...number, of, name: 'floorPercent' }}
            label="Percent of the usual that a deviation is at least"
            problem={floor === null ? rangeOf(AnomalyLimits.minStddevFloorPercent) : ''}
            hint="For pipelines that are so steady that every change would be unusual."
          />
          <DraftField
            {...{ ...number, of, name: 'dedupHours' }}
            label="Hours in which a deviation is one anomaly"
            problem={numberProblem(draft.dedupHours, AnomalyLimits.dedupWindowHours)}
            hint="A dismissed one stays quiet for as long."
          />
        </FieldPair>
        <Input.Wrapper labelElement="div" label="What is compared">
          <Stack gap="xs" mt={4}>
            {ANOMALY_METRICS.map((metric) => (
              <CheckboxField
                key={metric}
                label={METRIC_LABELS[metric]}
                hint={HINTS[metric]}
                checked={draft.metrics.includes(metric)}
                onChange={(checked) =>
                  set({
                    metrics: ANOMALY_METRICS.filter((one) =>
                      one === metric ? checked : draft.metrics.includes(one),
                    ),
                  })
                }
              />
            ))}
          </Stack>
        </Input.Wrapper>
      </MutationForm>
    </Section>
  );
};

interface Limits {
  minimum: number;
  maximum: number;
}

/** With up to two digits after the point; null where it is no such number. */
function decimal(text: string, { minimum, maximum }: Limits): number | null {
  const value = Number(text);
  return /^\d+(\.\d{1,2})?$/.test(text.trim()) && value >= minimum && value <= maximum ? value : null;
}

const rangeOf = ({ minimum, maximum }: Limits): string => `A number from ${minimum} to ${maximum}.`;
