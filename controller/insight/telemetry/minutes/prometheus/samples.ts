/**
 * Points of minutes as samples of a Prometheus-compatible store, each of one node: what a pipeline or component counted
 * (`_increase`) and over how long (`_seconds`), latency in milliseconds and utilization from 0 to 1; and gauges of hosts. Pure.
 */
import { MINUTE_MS } from '../../record/growth.ts';
import type { HostMinute } from '../../record/host-meter.ts';
import type { Grown } from '../../record/points-store.ts';
import { type Counters, type Gauges, NOTHING } from '../../record/reading.ts';
import type { NodeReadings } from '../../record/readings-store.ts';

/** Labels by name; `__name__` is the metric's. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
  /** Milliseconds since 1970. */
  at: number;
}

/** Values of the label `measure`, in the order of a `Counters` array. */
export const MEASURES = ['events_in', 'events_out', 'bytes_in', 'bytes_out', 'errors', 'discarded'] as const;
export const EXITS = 'exits';

/** Values of the label `measure` of `headgate_host`. */
export const HOST_MEASURES: Readonly<Record<Exclude<keyof HostMinute, 'start'>, string>> = {
  cpuPercent: 'cpu_percent',
  memoryUsedBytes: 'memory_used_bytes',
  memoryTotalBytes: 'memory_total_bytes',
  loadAvg1: 'load_avg1',
  fsUsedBytes: 'fs_used_bytes',
  fsTotalBytes: 'fs_total_bytes',
  diskReadRate: 'disk_read_rate',
  diskWrittenRate: 'disk_written_rate',
  netRxRate: 'net_rx_rate',
  netTxRate: 'net_tx_rate',
};

export function samplesOf(grown: readonly Grown[], nodes: readonly NodeReadings[]): Sample[] {
  return [...grown.flatMap(pipelineSamples), ...nodes.flatMap(hostSamples)];
}

function pipelineSamples({ nodeId, environmentId, pipelineId, reading, growth }: Grown): Sample[] {
  const { start, seconds, counters, components, exits } = growth.minute;
  // Inside of its minute, so that no window of whole minutes takes it twice, whichever of its ends a store counts in.
  const at = Math.min(Math.max(reading.at, start + 1), start + MINUTE_MS - 1);
  const labels = { environment_id: environmentId, node_id: nodeId, pipeline_id: pipelineId };
  const amounts = { at, seconds };
  return [
    ...measured('headgate_pipeline', labels, { ...amounts, counters, gauges: reading.gauges }),
    sample('headgate_pipeline_increase', { ...labels, measure: EXITS }, exits, at),
    ...reading.components.flatMap(([id], index) => {
      const gauges = reading.componentGauges[index];
      if (!gauges) return [];
      return measured(
        'headgate_component',
        { ...labels, component_id: id, kind: gauges.kind },
        { ...amounts, counters: components.get(id) ?? NOTHING, gauges },
      );
    }),
  ];
}

function measured(
  name: string,
  labels: Labels,
  { at, seconds, counters, gauges }: { at: number; seconds: number; counters: Counters; gauges: Gauges },
): Sample[] {
  const of = (suffix: string, more: Labels, value: number) =>
    sample(`${name}_${suffix}`, { ...labels, ...more }, value, at);
  return [
    ...MEASURES.map((measure, index) => of('increase', { measure }, counters[index] ?? 0)),
    of('seconds', {}, seconds),
    ...(gauges.latencyMs === null ? [] : [of('latency_ms', {}, gauges.latencyMs)]),
    ...(gauges.utilization === null ? [] : [of('utilization', {}, gauges.utilization)]),
  ];
}

const HOST_NAMES = Object.keys(HOST_MEASURES) as (keyof typeof HOST_MEASURES)[];

function hostSamples({ nodeId, environmentId, hostMinutes }: NodeReadings): Sample[] {
  const labels = { environment_id: environmentId, node_id: nodeId };
  return hostMinutes.flatMap((minute) =>
    HOST_NAMES.flatMap((name) => {
      const value = minute[name];
      if (value === null) return [];
      return sample(
        'headgate_host',
        { ...labels, measure: HOST_MEASURES[name] },
        value,
        minute.start + MINUTE_MS / 2,
      );
    }),
  );
}

const sample = (name: string, labels: Labels, value: number, at: number): Sample => ({
  labels: { __name__: name, ...labels },
  value,
  at,
});
