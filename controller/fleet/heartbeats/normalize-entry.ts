/**
 * Normalizes one entry of a heartbeat's `pipelines` to `PipelineReport`, for third-party agents. Optional parts that do not fit
 * are left out; any other fault rejects the entry and names the first wrong field.
 */
import {
  ComponentMetric,
  MOST_COMPONENT_METRICS,
  PipelineReport,
  Port,
} from '../../../schemas/agent/protocol.ts';
import { sentences, validator } from '../../../schemas/validate.ts';
import { knownFields } from './known-fields.ts';

export interface NormalizedEntry {
  report: PipelineReport;
  /** What was left out of the entry, for the author of the agent. */
  warnings: string[];
}

/** Limit of omitted metrics that the warnings of one entry list. */
const MAX_LISTED_METRICS = 5;
/** Optional fields that describe the state of a pipeline. */
const OPTIONAL_DETAILS = ['degraded', 'warnings', 'draining', 'lastDrain'] as const;
const PORTS = ['metricsPort', 'apiPort'] as const;

/**
 * - A field that is null counts as absent.
 * - A status that begins with CRASH, in any case (`CRASH_LOOP`, `Crashed`), is CRASHED.
 * - A component metric, a port, `degraded`, `warnings`, `draining` or `lastDrain` that does not fit is left out alone.
 *
 * Any other field that does not fit rejects the entry, and the reason names the field (`status must be one of …`).
 */
export function normalizeEntry(entry: unknown): NormalizedEntry | { reason: string } {
  const check = validator(PipelineReport);
  if (check.fits(entry)) return { report: entry, warnings: [] };
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return { reason: 'the entry must be an object' };
  const warnings: string[] = [];
  const candidate = knownFields(PipelineReport, entry);
  if (typeof candidate.status === 'string' && /^crash/i.test(candidate.status)) candidate.status = 'CRASHED';
  for (const name of PORTS) {
    const [fault] = candidate[name] === undefined ? [] : validator(Port).firstIssue(candidate[name]);
    if (!fault) continue;
    delete candidate[name];
    warnings.push(`${name} left out: ${fault.message}`);
  }
  for (const name of OPTIONAL_DETAILS) {
    const schema = PipelineReport.properties[name];
    const [fault] = candidate[name] === undefined ? [] : validator(schema).firstIssue(candidate[name]);
    if (!fault) continue;
    delete candidate[name];
    warnings.push(`${name} left out: ${fault.message}`);
  }
  if (
    Array.isArray(candidate.componentMetrics) &&
    candidate.componentMetrics.length <= MOST_COMPONENT_METRICS
  )
    candidate.componentMetrics = validMetrics(candidate.componentMetrics, warnings);
  if (check.fits(candidate)) return { report: candidate, warnings };
  return { reason: sentences(check.firstIssue(candidate)) };
}

function validMetrics(metrics: readonly unknown[], warnings: string[]): unknown[] {
  const check = validator(ComponentMetric);
  let omitted = 0;
  const valid = metrics.flatMap((item, index) => {
    const metric = typeof item === 'object' && item !== null ? knownFields(ComponentMetric, item) : item;
    if (check.fits(metric)) return [metric];
    omitted += 1;
    if (omitted <= MAX_LISTED_METRICS)
      warnings.push(`componentMetrics.${index} left out: ${sentences(check.firstIssue(metric))}`);
    return [];
  });
  if (omitted > MAX_LISTED_METRICS)
    warnings.push(`… and ${omitted - MAX_LISTED_METRICS} more component metrics left out`);
  return valid;
}
