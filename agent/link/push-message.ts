import type { PushMessage } from '../../schemas/agent/protocol.ts';
import { type Action, readAction } from '../update/update-order.ts';
import { parseSampleRequest, parseTapStart, parseTapStop } from './observe-request.ts';

/** The messages that this agent acts on. */
export type KnownPushMessage = Exclude<PushMessage, { type: 'action' }> | ({ type: 'action' } & Action);

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
  if (value.type === 'action') {
    const action = readAction(value);
    return action && { type: 'action', ...action };
  }
  if (value.type === 'sample_request') {
    const request = parseSampleRequest(value);
    return request && { type: 'sample_request', ...request };
  }
  if (value.type === 'tap_start') return parseTapStart(value);
  if (value.type === 'tap_stop') return parseTapStop(value);
  if (value.type === 'poll_interval' && 'intervalMs' in value && Number.isSafeInteger(value.intervalMs)) {
    return { type: 'poll_interval', intervalMs: Number(value.intervalMs) };
  }
  return undefined;
}
