/**
 * One entry of a heartbeat's `pipelines`, made to fit `PipelineReport`. Agents may be written by others: what can be left out
 * without losing anything is left out, and whatever is refused is refused by the name of the
 * first field that is wrong.
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
  /** What was left out of the entry, for who writes the agent. */
  warnings: string[];
}

/** How many left out metrics of one entry are named. */
const NAMED_METRICS = 5;
/** They tell of a pipeline beside its state. */
const REMARKS = ['degraded', 'warnings', 'draining', 'lastDrain'] as const;
const PORTS = ['metricsPort', 'apiPort'] as const;

/**
 * - A field that is null counts as absent.
 * - A status that begins with CRASH, in any case (`CRASH_LOOP`, `Crashed`), is CRASHED.
 * - A component metric, a port, `degraded`, `warnings`, `draining` or `lastDrain` that does not fit is left out alone.
 *
 * Everything else that does not fit refuses the entry, and the reason names the field (`status must be one of …`).
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
  for (const name of REMARKS) {
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
    candidate.componentMetrics = fittingMetrics(candidate.componentMetrics, warnings);
  if (check.fits(candidate)) return { report: candidate, warnings };
  return { reason: sentences(check.firstIssue(candidate)) };
}

function fittingMetrics(metrics: readonly unknown[], warnings: string[]): unknown[] {
  const check = validator(ComponentMetric);
  let left = 0;
  const fitting = metrics.flatMap((given, index) => {
    const metric = typeof given === 'object' && given !== null ? knownFields(ComponentMetric, given) : given;
    if (check.fits(metric)) return [metric];
    left += 1;
    if (left <= NAMED_METRICS)
      warnings.push(`componentMetrics.${index} left out: ${sentences(check.firstIssue(metric))}`);
    return [];
  });
  if (left > NAMED_METRICS) warnings.push(`… and ${left - NAMED_METRICS} more component metrics left out`);
  return fitting;
}
