/**
 * Tells state from measures. State is what people and reconcilers act on: statuses, versions, errors, labels, ports. It is
 * stored when it changes. Measures are counters, rates and gauges, which move with each heartbeat. Pure.
 */
import { hash } from 'node:crypto';
import type { NodeReport, PipelineReportRow } from './store.ts';

/** A 64-bit digest of a report's state as decimal text, which is how Postgres sends a bigint. */
export function stateDigest(report: Omit<NodeReport, 'state' | 'mustWrite'>): string {
  const state = JSON.stringify([
    report.agentVersion,
    report.engineVersion,
    report.engineComponents,
    report.deploymentMode,
    Object.entries(report.labels).sort(([a], [b]) => (a < b ? -1 : 1)),
    report.agentHealth.pushConnected,
    report.runningAs,
    report.updateError,
    report.pollIntervalMs,
    report.deliversLogs,
    report.pipelines.map(pipelineState).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
  return BigInt.asIntN(64, BigInt(`0x${hash('sha1', state, 'hex').slice(0, 16)}`)).toString();
}

const pipelineState = (row: PipelineReportRow): [string, ...unknown[]] => [
  row.pipelineId,
  row.version,
  row.status,
  row.pid,
  row.configChecksum,
  row.restarts,
  row.metricsPort,
  row.apiPort,
  row.lastError,
  row.degraded,
  row.warnings,
  row.draining,
  row.lastDrain,
  row.refused,
  row.metricsAsOf !== null,
  row.rates.errors > 0,
  row.components.length,
];

/**
 * Whether the pipeline runs, or has ended, and nothing is under way. What else it does is judged by how long it lasts (a crash,
 * a refused version, a drain), so each of its reports is stored.
 */
export const isSettled = (row: PipelineReportRow): boolean =>
  (row.status === 'RUNNING' || row.status === 'STOPPED') && row.refused === null && row.draining === null;
