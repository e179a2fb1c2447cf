/**
 * Normalizes a heartbeat to `HeartbeatRequest`, for third-party agents: optional parts that do not fit are left out. Entries of
 * `pipelines` are normalized by normalize-entry.ts.
 */
import { EngineInventory, HeartbeatRequest, HOST_METRIC_NAMES } from '../../../schemas/agent/protocol.ts';
import { type SchemaIssue, validator } from '../../../schemas/validate.ts';
import { knownFields } from './known-fields.ts';

export interface NormalizedHeartbeat {
  request: HeartbeatRequest;
  /** What was left out besides entries, for the author of the agent. */
  warnings: string[];
}

/**
 * - A field that is null counts as absent.
 * - A host metric that is not a number is left out alone, and so are host metrics that are not an object.
 * - An `engine` that does not fit is left out.
 *
 * Any other fault rejects the heartbeat; only the first one is reported.
 */
export function normalizeHeartbeat(body: unknown): NormalizedHeartbeat | { issues: SchemaIssue[] } {
  const check = validator(HeartbeatRequest);
  if (check.fits(body)) return { request: body, warnings: [] };
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { issues: check.firstIssue(body) };
  const warnings: string[] = [];
  const candidate = knownFields(HeartbeatRequest, body);
  if (candidate.hostMetrics !== undefined)
    candidate.hostMetrics = validHostMetrics(candidate.hostMetrics, warnings);
  if (candidate.engine !== undefined && !validator(EngineInventory).fits(candidate.engine)) {
    delete candidate.engine;
    warnings.push('engine left out: it does not fit');
  }
  if (check.fits(candidate)) return { request: candidate, warnings };
  return { issues: check.firstIssue(candidate) };
}

function validHostMetrics(metrics: unknown, warnings: string[]): Record<string, number> {
  const valid: Record<string, number> = {};
  if (typeof metrics !== 'object' || metrics === null || Array.isArray(metrics)) {
    warnings.push('hostMetrics left out: must be an object');
    return valid;
  }
  for (const name of HOST_METRIC_NAMES) {
    const value = (metrics as Record<string, unknown>)[name];
    if (typeof value === 'number') valid[name] = value;
    else if (value !== undefined && value !== null)
      warnings.push(`hostMetrics.${name} left out: must be a number`);
  }
  return valid;
}
