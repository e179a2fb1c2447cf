/** Fleet settings: how often nodes poll, when a silent one counts as unreachable, how much of what they report is kept, and how long. */
export interface FleetSettings {
  pollIntervalMs: number;
  /** Missed intervals until UNREACHABLE. */
  unhealthyThreshold: number;
  /** Log lines are kept this long, and up to a day longer. */
  logsRetentionDays: number;
  /** Log lines of one node that one controller stores in an hour, MiB. */
  logsMibPerNodeHour: number;
  /** All stored log lines together, MiB: above, the oldest day is dropped. */
  logsMibTotal: number;
  /** Metrics are kept this long. */
  metricsRetentionDays: number;
  /** Versions that each pipeline keeps at least; what runs, is promoted or was deployed lately stays beside them. */
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
