/**
 * A heartbeat, made to fit `HeartbeatRequest`. Agents may be written by others: what can be left out without losing anything
 * is left out. The entries of `pipelines` are for normalize-entry.ts.
 */
import { EngineInventory, HeartbeatRequest, HOST_METRIC_NAMES } from '../../../schemas/agent/protocol.ts';
import { type SchemaIssue, validator } from '../../../schemas/validate.ts';
import { knownFields } from './known-fields.ts';

export interface NormalizedHeartbeat {
  request: HeartbeatRequest;
  /** What was left out beside the entries, for who writes the agent. */
  warnings: string[];
}

/**
 * - A field that is null counts as absent.
 * - A host metric that is no number is left out alone, and so are host metrics that are no object.
 * - An `engine` of another form is left out.
 *
 * Everything else that does not fit refuses the heartbeat; of its faults the first is told.
 */
export function normalizeHeartbeat(body: unknown): NormalizedHeartbeat | { issues: SchemaIssue[] } {
  const check = validator(HeartbeatRequest);
  if (check.fits(body)) return { request: body, warnings: [] };
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { issues: check.firstIssue(body) };
  const warnings: string[] = [];
  const candidate = knownFields(HeartbeatRequest, body);
  if (candidate.hostMetrics !== undefined)
    candidate.hostMetrics = fittingHostMetrics(candidate.hostMetrics, warnings);
  if (candidate.engine !== undefined && !validator(EngineInventory).fits(candidate.engine)) {
    delete candidate.engine;
    warnings.push('engine left out: it does not fit');
  }
  if (check.fits(candidate)) return { request: candidate, warnings };
  return { issues: check.firstIssue(candidate) };
}

function fittingHostMetrics(given: unknown, warnings: string[]): Record<string, number> {
  const fitting: Record<string, number> = {};
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    warnings.push('hostMetrics left out: must be an object');
    return fitting;
  }
  for (const name of HOST_METRIC_NAMES) {
    const value = (given as Record<string, unknown>)[name];
    if (typeof value === 'number') fitting[name] = value;
    else if (value !== undefined && value !== null)
      warnings.push(`hostMetrics.${name} left out: must be a number`);
  }
  return fitting;
}
