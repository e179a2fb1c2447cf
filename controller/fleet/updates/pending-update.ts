/** An update of an agent from its request to its end: what is known of it, and what follows from that. Pure. */

import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PendingAction } from '../../../schemas/agent/protocol.ts';
import type { PendingUpdate } from '../../../schemas/api/fleet.ts';
import { presentDownload } from './download.ts';

export interface UpdateUnderWay {
  action: PendingAction;
  /** Milliseconds since 1970. Tells one update of a node from the next. */
  requestedAt: number;
  /** How often the agent has begun it. */
  tries: number;
  triedAt: number | null;
  /** What the agent reported as an error when this was requested. */
  errorBefore: string | null;
}

/** SQL of one, as JSON, of the row `n` of `nodes`; NULL where nothing is under way. */
export const UNDER_WAY = `CASE WHEN n.pending_action IS NULL THEN NULL ELSE jsonb_build_object('action', n.pending_action,
    'requestedAt', (extract(epoch FROM n.pending_action_at) * 1000)::bigint, 'tries', n.pending_action_tries,
    'triedAt', (extract(epoch FROM n.pending_action_tried_at) * 1000)::bigint,
    'errorBefore', n.pending_action_error_before) END`;

/** It is given up then. */
export const EXPIRES_MS = 24 * 3_600_000;
export const MAX_TRIES = 3;
/** One try lasts no longer than this. */
export const TRY_MS = 600_000;
/** The agent may have begun before it fetched the answer that was counted, and its uptime comes in whole seconds. */
const SLACK_MS = 2_000;

export type Outcome = { updated: true } | { updated: false; reason: string };
/** Of a heartbeat, without what a database could not keep. */
export interface Reported {
  agentVersion: string | null;
  updateError: string | null;
  uptimeSeconds: number | null;
}

/** `v1.2.3` and `1.2.3` are one version. */
export const sameVersion = (a: string, b: string) => a.replace(/^v/, '') === b.replace(/^v/, '');

export const channelOf = (version: string): 'stable' | 'dev' =>
  version.startsWith('dev-') ? 'dev' : 'stable';

/** As people see it. */
export function pendingOf(update: UpdateUnderWay): PendingUpdate {
  const { targetVersion, downloadUrl, checksum } = update.action;
  return {
    targetVersion,
    downloadUrl: presentDownload(downloadUrl),
    checksum,
    requestedAt: new Date(update.requestedAt),
    expiresAt: new Date(update.requestedAt + EXPIRES_MS),
    tries: update.tries,
  };
}

/** The version that an agent names in its error. */
const NAMED_VERSION = /^update to (\S+) (?:failed|refused): /;

/** The agent has fetched nothing: with other settings or a signature the same file may be asked for again. */
export const isRefusal = (reason: string): boolean => /^update to \S+ refused: /.test(reason);

/** What a heartbeat says of it; null where it goes on. */
export function reportedOutcome(
  update: UpdateUnderWay,
  { agentVersion, updateError }: Reported,
  now: number,
): Outcome | null {
  if (agentVersion && sameVersion(agentVersion, update.action.targetVersion)) return { updated: true };
  if (!updateError) return null;
  // Of an update that this one took the place of while the agent was at it.
  const named = NAMED_VERSION.exec(updateError)?.[1];
  if (named !== undefined && !sameVersion(named, update.action.targetVersion)) return null;
  // The same words as before may be those of the update before, until this one must have come to its end.
  const isOld = updateError === update.errorBefore;
  const over = update.triedAt !== null && now - update.triedAt > AGENT_LIMITS.updateDownloadMs + 60_000;
  return isOld && !over ? null : { updated: false, reason: updateError };
}

/** Whether time alone ends it. */
export function overdue({ requestedAt, tries, triedAt }: UpdateUnderWay, now: number): Outcome | null {
  if (tries >= MAX_TRIES && triedAt !== null && now - triedAt > TRY_MS)
    return { updated: false, reason: `It was begun ${tries} times and came to no end` };
  if (now - requestedAt > EXPIRES_MS)
    return { updated: false, reason: 'It was not carried out within 24 hours' };
  return null;
}

/** Whether an answer that carries it makes the agent begin. One that goes out again soon is taken for the same try. */
export const begins = ({ triedAt }: UpdateUnderWay, now: number): boolean =>
  triedAt === null || now - triedAt > TRY_MS;

/** Whether the agent was started after it had begun, and so begins again. */
export function restarted({ triedAt }: UpdateUnderWay, uptimeSeconds: number | null, now: number): boolean {
  if (triedAt === null || uptimeSeconds === null) return false;
  return now - uptimeSeconds * 1_000 > triedAt + SLACK_MS;
}
