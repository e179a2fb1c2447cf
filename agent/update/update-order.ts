/** An update as it was ordered, and what is wrong with an order before anything is fetched. */
import type { PendingAction } from '../../schemas/agent/protocol.ts';
import type { Channel } from '../command-line.ts';

export type UpdateOrder = Pick<PendingAction, 'targetVersion' | 'downloadUrl' | 'checksum' | 'signature'>;

const VERSION = /^(v?\d{1,9}\.\d{1,9}\.\d{1,9}([-+][0-9A-Za-z.-]{1,40})?|dev-[0-9a-f]{4,40})$/;
const CHECKSUM = /^(?:sha256:)?([0-9a-f]{64})$/i;

/** The channel shows in the version, and an agent never changes it. */
export const channelOf = (version: string): Channel => (version.startsWith('dev-') ? 'dev' : 'stable');

/** The SHA-256 in lower case; undefined for what is no checksum. */
export const digestOf = (checksum: string): string | undefined => CHECKSUM.exec(checksum)?.[1]?.toLowerCase();

export const isVersion = (text: string): boolean => VERSION.test(text);

/** `v1.2.3` and `1.2.3` are one version. */
export const sameVersion = (a: string, b: string): boolean => a.replace(/^v/, '') === b.replace(/^v/, '');

const PARTS = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/;

/** The precedence of two stable versions (semver.org 2.0.0, section 11): below 0 where `a` is the lower one. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [PARTS.exec(a), PARTS.exec(b)];
  if (!one || !other) return 0;
  for (const part of [1, 2, 3]) {
    const difference = Number(one[part]) - Number(other[part]);
    if (difference !== 0) return difference;
  }
  return comparePreReleases(one[4], other[4]);
}

/** A version without a suffix is the higher one. */
function comparePreReleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [left, right] = [a.split('.'), b.split('.')];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const [one = '', other = ''] = [left[index], right[index]];
    if (one === other) continue;
    const [oneIsNumber, otherIsNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    if (oneIsNumber && otherIsNumber) return Number(one) - Number(other);
    if (oneIsNumber !== otherIsNumber) return oneIsNumber ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return left.length - right.length;
}

/**
 * Why an update cannot be begun; undefined when it can. A lower version is refused: an attacker on the
 * controller could bring back a fault that a later version fixes. Dev versions are hashes without an order.
 */
export function refusal(
  order: UpdateOrder,
  current: string,
  { allowDowngrade = false } = {},
): string | undefined {
  if (!isVersion(order.targetVersion)) return 'that is no version such as v1.2.3 or dev-1a2b3c4';
  const [from, to] = [channelOf(current), channelOf(order.targetVersion)];
  if (from !== to) return `this agent follows the channel ${from}: install it again to change to ${to}`;
  if (digestOf(order.checksum) === undefined) return 'the checksum is no SHA-256 of 64 hexadecimal digits';
  if (!allowDowngrade && to === 'stable' && compareVersions(order.targetVersion, current) < 0)
    return `it is lower than ${current}, which runs here: to allow that, set SVC_ALLOW_DOWNGRADE=1 on the node and restart the agent`;
  return undefined;
}

/**
 * The heartbeat's `updateError`, bounded; an order may hold anything. `refused` is what was not begun: nothing was
 * fetched, and the same file may be asked for again once the settings or the order are others.
 */
export const failureText = (targetVersion: string, reason: string, outcome: 'failed' | 'refused'): string =>
  `update to ${targetVersion.slice(0, 64)} ${outcome}: ${reason.slice(0, 900)}`;

export type Action = { action: 'restart' } | { action: 'self_update'; order: UpdateOrder };

/** The push message `action`; undefined for one that is unknown or lacks something. */
export function readAction(message: object): Action | undefined {
  const { action, ...order } = message as Record<string, unknown>;
  if (action === 'restart') return { action };
  if (action !== 'self_update') return undefined;
  const { targetVersion, downloadUrl, checksum, signature } = order;
  if (!isText(targetVersion) || !isText(downloadUrl) || !isText(checksum)) return undefined;
  return {
    action,
    order: { targetVersion, downloadUrl, checksum, signature: isText(signature) ? signature : undefined },
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= 8_192;
