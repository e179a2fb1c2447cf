/**
 * Fleet settings: how often nodes poll, when a silent node counts as unreachable, and how much of what nodes report is retained
 * for how long. The defaults of all these numbers are here.
 */
export interface FleetSettings {
  pollIntervalMs: number;
  /** Missed intervals until UNREACHABLE. */
  unhealthyThreshold: number;
  /** Log lines are retained this long, and up to a day longer. */
  logsRetentionDays: number;
  /** MiB of log lines that one controller stores per node and hour. */
  logsMibPerNodeHour: number;
  /** MiB of all stored log lines; above this, the oldest day is dropped. */
  logsMibTotal: number;
  /** Metrics are retained this long. */
  metricsRetentionDays: number;
  /**
   * Versions that each pipeline retains at least. Versions that run, are being promoted or were deployed lately are retained in
   * addition.
   */
  pipelineVersionsRetained: number;
}

export const DEFAULT_FLEET_SETTINGS: FleetSettings = {
  pollIntervalMs: 5_000,
  unhealthyThreshold: 3,
  logsRetentionDays: 3,
  logsMibPerNodeHour: 100,
  logsMibTotal: 10_240,
  metricsRetentionDays: 7,
  pipelineVersionsRetained: 50,
};
