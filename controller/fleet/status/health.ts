/** A node's health: one pure function, computed when it is read. */
import type { NodeHealth } from '../../../schemas/api/pipelines.ts';

export interface HealthInput {
  /** Milliseconds since 1970; null before the first heartbeat. */
  lastHeartbeatAt: number | null;
  /** The larger of the server's poll interval and the node's own. */
  intervalMs: number;
  unhealthyThreshold: number;
  now: number;
  /** When this controller began to listen: before that no heartbeat could be heard, so a restart raises no alarm. */
  listeningSince: number;
  crashed: readonly string[];
  /** Pipelines whose running version has differed from the desired one for more than two intervals. */
  lagging: readonly string[];
  /** Pipelines of which the version before is served, since the newer one does not run there. */
  reverted: readonly string[];
  updateError: string | null;
  /** Its token was taken back. */
  revoked: boolean;
}

const REVOKED =
  'Its token was revoked; delete the node-token file in SVC_DATA_DIR and start the agent with a new SVC_TOKEN: it joins as a new node';

export function nodeHealth(input: HealthInput): { status: NodeHealth; reason: string } {
  if (input.revoked) return { status: 'UNREACHABLE', reason: REVOKED };
  if (input.lastHeartbeatAt === null) return { status: 'UNKNOWN', reason: 'It has not been heard from yet' };
  const limitMs = input.unhealthyThreshold * input.intervalMs;
  const silentMs = input.now - Math.max(input.lastHeartbeatAt, input.listeningSince);
  if (silentMs > limitMs) {
    const seconds = Math.round((input.now - input.lastHeartbeatAt) / 1000);
    return {
      status: 'UNREACHABLE',
      reason: `No heartbeat for ${seconds} s; check the agent and its way to the controller`,
    };
  }
  if (input.crashed.length > 0) return { status: 'DEGRADED', reason: `Crashed: ${input.crashed.join(', ')}` };
  if (input.reverted.length > 0)
    return {
      status: 'DEGRADED',
      reason: `Runs the version before, the newer one failed here: ${input.reverted.join(', ')}`,
    };
  if (input.updateError !== null)
    return { status: 'DEGRADED', reason: `The agent's update failed: ${input.updateError}` };
  if (input.lagging.length > 0) {
    return { status: 'DEGRADED', reason: `Not yet on the deployed version: ${input.lagging.join(', ')}` };
  }
  return { status: 'HEALTHY', reason: '' };
}
