/** The states of an agent update, from its request to its outcome. Pure. */

import { AGENT_LIMITS } from '../../../schemas/agent/limits.ts';
import type { PendingAction } from '../../../schemas/agent/protocol.ts';
import type { PendingUpdate } from '../../../schemas/api/fleet/fleet.ts';
import { redactDownloadUrl } from './download.ts';

export interface PendingAgentUpdate {
  action: PendingAction;
  /** Milliseconds since 1970. Identifies the update among those of its node. */
  requestedAt: number;
  /** How often the agent has started it. */
  tries: number;
  triedAt: number | null;
  /** The update error that the agent reported when this update was requested. */
  errorBefore: string | null;
}

/** SQL: the pending update of the row `n` of `nodes` as JSON; NULL if there is none. */
export const PENDING_UPDATE = `CASE WHEN n.pending_action IS NULL THEN NULL ELSE jsonb_build_object('action', n.pending_action,
    'requestedAt', (extract(epoch FROM n.pending_action_at) * 1000)::bigint, 'tries', n.pending_action_tries,
    'triedAt', (extract(epoch FROM n.pending_action_tried_at) * 1000)::bigint,
    'errorBefore', n.pending_action_error_before) END`;

/** A pending update expires after this time. */
export const EXPIRES_MS = 24 * 3_600_000;
export const MAX_TRIES = 3;
/** The longest duration of one try. */
export const TRY_MS = 600_000;
/** The agent may start before it fetches the answer that was counted, and its uptime comes in whole seconds. */
const SLACK_MS = 2_000;

export type Outcome = { updated: true } | { updated: false; reason: string };
/** The relevant fields of a heartbeat, cleaned for the database. */
export interface Reported {
  agentVersion: string | null;
  updateError: string | null;
  uptimeSeconds: number | null;
}

/** `v1.2.3` and `1.2.3` are one version. */
export const sameVersion = (a: string, b: string) => a.replace(/^v/, '') === b.replace(/^v/, '');

export const channelOf = (version: string): 'stable' | 'dev' =>
  version.startsWith('dev-') ? 'dev' : 'stable';

/** Presents a pending update without the secrets of its address. */
export function presentPending(update: PendingAgentUpdate): PendingUpdate {
  const { targetVersion, downloadUrl, checksum } = update.action;
  return {
    targetVersion,
    downloadUrl: redactDownloadUrl(downloadUrl),
    checksum,
    requestedAt: new Date(update.requestedAt),
    expiresAt: new Date(update.requestedAt + EXPIRES_MS),
    tries: update.tries,
  };
}

/** The version that the agent names in its error. */
const NAMED_VERSION = /^update to (\S+) (?:failed|refused): /;

/** The agent has downloaded nothing. With other settings or a signature the same file may be requested again. */
export const isRefusal = (reason: string): boolean => /^update to \S+ refused: /.test(reason);

/** The outcome that a heartbeat reports; null while the update continues. */
export function reportedOutcome(
  update: PendingAgentUpdate,
  { agentVersion, updateError }: Reported,
  now: number,
): Outcome | null {
  if (agentVersion && sameVersion(agentVersion, update.action.targetVersion)) return { updated: true };
  if (!updateError) return null;
  // The error belongs to an update that this one replaced while the agent was carrying it out.
  const named = NAMED_VERSION.exec(updateError)?.[1];
  if (named !== undefined && !sameVersion(named, update.action.targetVersion)) return null;
  // The same error text may still be that of the previous update, until this one must have ended.
  const isOld = updateError === update.errorBefore;
  const mustHaveEnded =
    update.triedAt !== null && now - update.triedAt > AGENT_LIMITS.updateDownloadMs + 60_000;
  return isOld && !mustHaveEnded ? null : { updated: false, reason: updateError };
}

/** Returns a failure if the update has run out of time or tries. */
export function findExpiry({ requestedAt, tries, triedAt }: PendingAgentUpdate, now: number): Outcome | null {
  if (tries >= MAX_TRIES && triedAt !== null && now - triedAt > TRY_MS)
    return { updated: false, reason: `The agent started it ${tries} times and never finished` };
  if (now - requestedAt > EXPIRES_MS)
    return { updated: false, reason: 'It was not carried out within 24 hours' };
  return null;
}

/** Whether a config answer with the update makes the agent start. A repeated answer within `TRY_MS` counts as the same try. */
export const startsTry = ({ triedAt }: PendingAgentUpdate, now: number): boolean =>
  triedAt === null || now - triedAt > TRY_MS;

/** Whether the agent restarted after it had started the update, and so starts it again. */
export function hasRestarted(
  { triedAt }: PendingAgentUpdate,
  uptimeSeconds: number | null,
  now: number,
): boolean {
  if (triedAt === null || uptimeSeconds === null) return false;
  return now - uptimeSeconds * 1_000 > triedAt + SLACK_MS;
}
