import type { PushMessage } from '../../schemas/agent/protocol.ts';

/** The messages that this agent acts on. The others are for pipelines' events and for updates. */
export type KnownPushMessage = Extract<PushMessage, { type: 'config_changed' | 'poll_interval' }>;

/** Undefined for what is unknown or broken: a newer controller must not disturb an older agent. */
export function parsePushMessage(data: string): KnownPushMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('type' in value)) return undefined;
  if (value.type === 'config_changed') {
    return { type: 'config_changed', reason: 'reason' in value ? String(value.reason).slice(0, 200) : '' };
  }
  if (value.type === 'poll_interval' && 'intervalMs' in value && Number.isSafeInteger(value.intervalMs)) {
    return { type: 'poll_interval', intervalMs: Number(value.intervalMs) };
  }
  return undefined;
}
