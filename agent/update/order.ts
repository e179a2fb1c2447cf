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

/** `v1.2.3` and `1.2.3` are one version. */
export const sameVersion = (a: string, b: string): boolean => a.replace(/^v/, '') === b.replace(/^v/, '');

/** Why an update cannot be begun; undefined when it can. */
export function refusal(order: UpdateOrder, current: string): string | undefined {
  if (!VERSION.test(order.targetVersion)) return 'that is no version such as v1.2.3 or dev-1a2b3c4';
  const [from, to] = [channelOf(current), channelOf(order.targetVersion)];
  if (from !== to) return `this agent follows the channel ${from}: install it anew to change to ${to}`;
  if (digestOf(order.checksum) === undefined) return 'the checksum is no SHA-256 of 64 hexadecimal digits';
  return undefined;
}

/** For people, bounded; an order may hold anything. */
export const failureText = (targetVersion: string, reason: string): string =>
  `update to ${targetVersion.slice(0, 64)} failed: ${reason.slice(0, 900)}`;

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
