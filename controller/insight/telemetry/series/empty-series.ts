import type { MetricsSeries, StepValues } from '../../../../schemas/api/insight/metrics.ts';
import type { Window } from './window.ts';

/** All gaps: nothing was reported in the window. */
export function emptySeries(id: string, { steps }: Window): MetricsSeries {
  const gaps = (): StepValues => new Array(steps).fill(null);
  return {
    ...{ id, name: null },
    mean: {
      ...{ eventsIn: gaps(), eventsOut: gaps(), bytesIn: gaps(), bytesOut: gaps() },
      ...{ errors: gaps(), discarded: gaps() },
    },
    ...{ latencyMs: gaps(), utilization: gaps() },
    totals: { eventsIn: 0, eventsOut: 0, bytesIn: 0, bytesOut: 0, errors: 0, discarded: 0, exits: 0 },
  };
}
