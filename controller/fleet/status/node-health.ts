/** Computes the health of a node when it is read. Pure. */
import type { NodeHealth } from '../../../schemas/api/pipelines/on-nodes.ts';

export interface HealthInput {
  /** Milliseconds since 1970; null before the first heartbeat. */
  lastHeartbeatAt: number | null;
  /** The larger of the server's poll interval and the node's own. */
  intervalMs: number;
  unhealthyThreshold: number;
  now: number;
  /** When this controller started to receive heartbeats. Silence before that is ignored, so a restart raises no alarm. */
  listeningSince: number;
  crashed: readonly string[];
  /** Pipelines whose running version has differed from the desired one for more than two intervals. */
  lagging: readonly string[];
  /** Pipelines that were reverted on the node because the newer version does not run there. */
  reverted: readonly string[];
  updateError: string | null;
  /** Its token was revoked. */
  revoked: boolean;
}

/** A heartbeat may be stored this long after it was received. A node is not called silent for that time. */
const STORED_WITHIN_MS = 1_000;

/** The report of each node is stored at least this often, for its measures. In a large fleet an unchanged one waits that long. */
export const WHOLE_EVERY_MS = 60_000;

const REVOKED =
  'Its token was revoked; delete the node-token file in SVC_DATA_DIR and start the agent with a new SVC_TOKEN: it joins as a new node';

export function nodeHealth(input: HealthInput): { status: NodeHealth; reason: string } {
  if (input.revoked) return { status: 'UNREACHABLE', reason: REVOKED };
  if (input.lastHeartbeatAt === null) return { status: 'UNKNOWN', reason: 'It has not sent a heartbeat yet' };
  const limitMs = silenceLimitMs(input);
  const silentMs = input.now - Math.max(input.lastHeartbeatAt, input.listeningSince);
  if (silentMs > limitMs) {
    const seconds = Math.round((input.now - input.lastHeartbeatAt) / 1000);
    return {
      status: 'UNREACHABLE',
      reason: `No heartbeat for ${seconds} s; check the agent and its connection to the controller`,
    };
  }
  if (input.crashed.length > 0) return { status: 'DEGRADED', reason: `Crashed: ${input.crashed.join(', ')}` };
  if (input.reverted.length > 0)
    return {
      status: 'DEGRADED',
      reason: `Runs the previous version because the newer one failed here: ${input.reverted.join(', ')}`,
    };
  if (input.updateError !== null)
    return { status: 'DEGRADED', reason: `The agent's update failed: ${input.updateError}` };
  if (input.lagging.length > 0) {
    return { status: 'DEGRADED', reason: `Not yet on the deployed version: ${input.lagging.join(', ')}` };
  }
  return { status: 'HEALTHY', reason: '' };
}

const silenceLimitMs = ({
  unhealthyThreshold,
  intervalMs,
}: Pick<HealthInput, 'unhealthyThreshold' | 'intervalMs'>): number =>
  unhealthyThreshold * intervalMs + STORED_WITHIN_MS;

/**
 * Whether the last report of a node is so old that it says nothing of now, although the node may count as reachable because
 * the controller has not listened for long enough. Times are in milliseconds since 1970; null before the first report.
 */
export function isOverdue(
  input: Pick<HealthInput, 'lastHeartbeatAt' | 'unhealthyThreshold' | 'intervalMs' | 'now'> & {
    lastReportAt: number | null;
  },
): boolean {
  const { lastHeartbeatAt, lastReportAt, now } = input;
  const limitMs = silenceLimitMs(input);
  return now - (lastHeartbeatAt ?? now) > limitMs || now - (lastReportAt ?? now) > limitMs + WHOLE_EVERY_MS;
}
