/** Fleet settings: how often nodes poll, when a silent one counts as unreachable, how long what they tell is kept. */
export interface FleetSettings {
  pollIntervalMs: number;
  /** Missed intervals until UNREACHABLE. */
  unhealthyThreshold: number;
  /** Log lines are kept this long, and up to a day longer. */
  logsRetentionDays: number;
  /** Metrics are kept this long. */
  metricsRetentionDays: number;
}

export const DEFAULT_FLEET_SETTINGS: FleetSettings = {
  pollIntervalMs: 5_000,
  unhealthyThreshold: 3,
  logsRetentionDays: 3,
  metricsRetentionDays: 7,
};
