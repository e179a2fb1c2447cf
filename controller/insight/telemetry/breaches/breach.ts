/** Times in which recorded minutes met a condition. */
import type { AlertCondition, AlertMetric } from '../../../../schemas/manifests/alert-rule.ts';
import { MINUTE_MS } from '../record/growth.ts';

export interface BreachQuery {
  metric: AlertMetric;
  condition: AlertCondition;
  threshold: number;
  /** Shorter breaches are left out. */
  minutes: number;
  /** Whose minutes are looked at: nodes for metrics of hosts, pipelines for rates, both for crashes. */
  nodeIds: readonly string[];
  pipelineIds: readonly string[];
  /** Whole minutes, in milliseconds since 1970. */
  from: number;
  to: number;
}

export interface Breach {
  nodeId: string | null;
  pipelineId: string | null;
  from: number;
  to: number;
  /** The value farthest beyond the threshold. */
  peak: number | null;
}

export interface Breaches {
  /** Nodes, pipelines, or pipelines on nodes that have minutes. */
  series: number;
  /** At most `MAX_BREACHES`, the newest. */
  breaches: Breach[];
}

export const MAX_BREACHES = 5_000;
/** A node that reports has a point in each minute; its two ends may lie almost two minutes apart. */
export const SILENT_MINUTES = 2;

export interface MinuteValues {
  nodeId: string | null;
  pipelineId: string | null;
  /** One per minute of the window; null where there is none. */
  values: readonly (number | null)[];
}

/** Breaches of minutes that are `isMet`, of a series with a value per minute. */
export function breachesIn(
  { nodeId, pipelineId, values }: MinuteValues,
  { from, minutes, condition }: Pick<BreachQuery, 'from' | 'minutes' | 'condition'>,
  isMet: (value: number | null) => boolean,
): Breach[] {
  const breaches: Breach[] = [];
  let start: number | null = null;
  for (let minute = 0; minute <= values.length; minute += 1) {
    const met = minute < values.length && isMet(values[minute] ?? null);
    if (met) start ??= minute;
    if (met || start === null) continue;
    if (minute - start >= minutes)
      breaches.push({
        ...{ nodeId, pipelineId, from: from + start * MINUTE_MS, to: from + minute * MINUTE_MS },
        peak: farthest(values.slice(start, minute), condition),
      });
    start = null;
  }
  return breaches;
}

function farthest(values: readonly (number | null)[], condition: AlertCondition): number | null {
  const known = values.filter((value) => value !== null);
  const further = condition === 'lt' ? Math.min : Math.max;
  return known.length === 0 ? null : known.reduce((peak, value) => further(peak, value));
}
