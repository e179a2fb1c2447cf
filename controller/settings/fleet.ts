/** Fleet settings: how often nodes poll, and when a silent one counts as unreachable. */
export interface FleetSettings {
  pollIntervalMs: number;
  /** Missed intervals until UNREACHABLE. */
  unhealthyThreshold: number;
}

export const DEFAULT_FLEET_SETTINGS: FleetSettings = { pollIntervalMs: 5_000, unhealthyThreshold: 3 };
