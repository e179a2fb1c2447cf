/** Guards for what the controller wants to see of events. What is malformed or out of bounds is undefined: ignored. */
import type { PushMessage, SampleRequest } from '../../schemas/agent/protocol.ts';
import { ID, LIMITS } from '../limits.ts';

export type TapStart = Extract<PushMessage, { type: 'tap_start' }>;
export type TapStop = Extract<PushMessage, { type: 'tap_stop' }>;

const KEY_CHARS = 256;

export function parseSampleRequest(value: unknown): SampleRequest | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { requestId, pipelineId, componentKeys, limit, sinkKeys } = value as Record<string, unknown>;
  if (!isId(requestId) || !isId(pipelineId) || !isKeys(componentKeys) || componentKeys.length === 0)
    return undefined;
  if (sinkKeys !== undefined && !isKeys(sinkKeys)) return undefined;
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > LIMITS.samples.events)
    return undefined;
  return {
    requestId,
    pipelineId,
    componentKeys: [...new Set(componentKeys)],
    limit: Number(limit),
    ...(sinkKeys && { sinkKeys }),
  };
}

export function parseTapStart(value: unknown): TapStart | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { requestId, pipelineId, componentId, sink } = value as Record<string, unknown>;
  if (!isId(requestId) || !isId(pipelineId) || !isKey(componentId)) return undefined;
  if (sink !== undefined && typeof sink !== 'boolean') return undefined;
  return { type: 'tap_start', requestId, pipelineId, componentId, ...(sink !== undefined && { sink }) };
}

export function parseTapStop(value: unknown): TapStop | undefined {
  if (typeof value !== 'object' || value === null || !('requestId' in value)) return undefined;
  return isId(value.requestId) ? { type: 'tap_stop', requestId: value.requestId } : undefined;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= KEY_CHARS;
}

function isKeys(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= LIMITS.samples.components && value.every(isKey);
}
