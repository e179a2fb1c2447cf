/** How anomalies are worded and coloured. */
import type { Anomaly, AnomalyMetric, AnomalySeverity } from '../../../../schemas/api/insight/anomalies.ts';
import type { Tone } from '../../ui/primitives/tone.ts';
import { formatLatency, formatRate, plural } from '../../ui/text/format.ts';

export const SEVERITY_TONES: Readonly<Record<AnomalySeverity, Tone>> = {
  info: 'unknown',
  warning: 'held',
  critical: 'failed',
};
export const SEVERITY_LABELS: Readonly<Record<AnomalySeverity, string>> = {
  info: 'Info',
  warning: 'Warning',
  critical: 'Critical',
};
/** The worst first. */
export const SEVERITY_ORDER: Readonly<Record<AnomalySeverity, number>> = { critical: 0, warning: 1, info: 2 };

export const METRIC_LABELS: Readonly<Record<AnomalyMetric, string>> = {
  eventsIn: 'Events in',
  errors: 'Errors',
  latency: 'Latency',
};

export const valueText = (metric: AnomalyMetric, value: number): string =>
  metric === 'latency' ? formatLatency(value / 1_000) : formatRate(value);

/** For example "Fewer events in than usual". */
export function whatText({ metric, direction }: Pick<Anomaly, 'metric' | 'direction'>): string {
  if (metric === 'latency') return 'Higher latency than usual';
  if (metric === 'errors') return 'More errors than usual';
  return direction === 'up' ? 'More events in than usual' : 'Fewer events in than usual';
}

export const expectedText = ({
  metric,
  expectedLow,
  expectedHigh,
}: Pick<Anomaly, 'metric' | 'expectedLow' | 'expectedHigh'>): string =>
  `${valueText(metric, expectedLow)} to ${valueText(metric, expectedHigh)}`;

/** Of a list without anomalies. `hasOthers`: of another status. */
export const emptyText = (hasOthers: boolean): string =>
  hasOthers
    ? 'No anomaly is open. Those that were acknowledged or dismissed are under All.'
    : 'Nothing unusual was seen. Events, errors and latency are compared every five minutes with what they usually are at this time, once a day of them is known.';

/** What stands beside a pipeline, and what it means. */
export const openText = (count: number, severity: AnomalySeverity): { shown: string; tip: string } => ({
  shown: `${count} ${SEVERITY_LABELS[severity]}`,
  tip: `${plural(count, 'open anomaly', 'open anomalies')}, the worst one is ${severity}`,
});
