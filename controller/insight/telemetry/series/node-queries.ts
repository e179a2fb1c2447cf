/** Reads a host's series. */
import type { Knex } from 'knex';
import type { NodeMetrics, StepValues } from '../../../../schemas/api/insight/metrics.ts';
import { minutesOf } from '../minutes/packing-store.ts';
import type { Window } from './window.ts';

export type HostSeries = Omit<NodeMetrics, 'nodeId' | 'from' | 'to' | 'stepSeconds' | 'pipelines' | 'marks'>;

const COLUMNS: Readonly<Record<keyof HostSeries, string>> = {
  cpuPercent: 'avg(cpu_percent)',
  cpuPercentMax: 'max(cpu_percent)',
  memoryUsedBytes: 'avg(memory_used_bytes)',
  memoryTotalBytes: 'max(memory_total_bytes)',
  loadAvg1: 'avg(load_avg1)',
  fsUsedBytes: 'avg(fs_used_bytes)',
  fsTotalBytes: 'max(fs_total_bytes)',
  diskReadRate: 'avg(disk_read_rate)',
  diskWrittenRate: 'avg(disk_written_rate)',
  netRxRate: 'avg(net_rx_rate)',
  netTxRate: 'avg(net_tx_rate)',
};
const NAMES = Object.keys(COLUMNS) as (keyof HostSeries)[];

export async function readHost(
  db: Knex,
  nodeId: string,
  { from, to, stepSeconds, steps }: Window,
): Promise<HostSeries> {
  const { rows } = await db.raw<{ rows: ({ step: number } & Record<keyof HostSeries, number | null>)[] }>(
    `SELECT floor((date_part('epoch', minute) - :fromSeconds) / :stepSeconds)::int AS step,
       ${NAMES.map((name) => `${COLUMNS[name]} AS "${name}"`).join(', ')}
     FROM ${minutesOf('node_minutes', 'm.node_id = :nodeId')} m GROUP BY 1`,
    { nodeId, from: new Date(from), to: new Date(to), fromSeconds: from / 1_000, stepSeconds },
  );
  const series = Object.fromEntries(
    NAMES.map((name): [string, StepValues] => [name, new Array(steps).fill(null)]),
  ) as HostSeries;
  for (const row of rows)
    if (row.step >= 0 && row.step < steps) for (const name of NAMES) series[name][row.step] = row[name];
  return series;
}
