/** The current problems of an environment, worst first. Pure. */
import type { Problem } from '../../../schemas/api/insight/dashboard.ts';
import type { Joined, NodeStatus, PipelineStatus } from '../../fleet/status/index.ts';
import { alertProblems, NO_ALERTS, type OpenAlerts } from './alert-problems.ts';

export interface GitErrors {
  lastError: string | null;
  suspended: boolean;
  /** At least as many as the overview lists. */
  importErrors: readonly { id: string; path: string; line: number | null; message: string }[];
}

const NO_LOCATION = { id: null, path: null, line: null };
const number = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const rate = (perSecond: number) => `${number.format(perSecond)}/s`;
const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** `alerts`: an alert about the same replaces what is derived. */
export function problemsOf(
  { pipelines, nodes }: Joined,
  git: GitErrors | null,
  { alerts, now }: { alerts: OpenAlerts; now: number } = { alerts: NO_ALERTS, now: 0 },
): Problem[] {
  const covered = new Set([
    ...alerts.nodeIds.map((id) => `node-${id}`),
    ...alerts.pipelineIds.map((id) => `crash-${id}`),
  ]);
  const anyUnreachable = nodes.some(({ health }) => health === 'UNREACHABLE');
  const derived = [
    ...pipelines.flatMap((status) => pipelineProblems(status, anyUnreachable)),
    ...nodes.flatMap(nodeProblems),
  ].filter(({ key, tone }) => tone !== 'failed' || !covered.has(key));
  return [...derived, ...alertProblems(alerts.listed, now), ...(git ? gitProblems(git) : [])].sort(
    (a, b) => b.harm - a.harm || a.title.localeCompare(b.title),
  );
}

function pipelineProblems(
  { pipeline, counts, gate, rates, refused }: PipelineStatus,
  anyUnreachable: boolean,
): Problem[] {
  const about = { ...NO_LOCATION, kind: 'pipeline' as const, id: pipeline.id };
  const found: Problem[] = [];
  if (refused !== null) {
    found.push({
      ...about,
      key: `refused-${pipeline.id}`,
      tone: 'failed',
      title: `${pipeline.name}: version ${refused.version} failed on ${refused.count} of ${plural(counts.total, 'node')}`,
      note: gate.find(({ state }) => state === 'failed')?.reason ?? refused.reason,
      harm: 85 + (5 * refused.count) / Math.max(counts.total, 1),
    });
  } else if (counts.crashed > 0) {
    found.push({
      ...about,
      key: `crash-${pipeline.id}`,
      tone: 'failed',
      title: `${pipeline.name} crashed on ${counts.crashed} of ${plural(counts.total, 'node')}`,
      note: gate.find(({ state }) => state === 'failed')?.reason ?? 'The engine exited unexpectedly.',
      harm: 90 + (10 * counts.crashed) / Math.max(counts.total, 1),
    });
  } else if (rates.errors > 0) {
    found.push({
      ...about,
      key: `errors-${pipeline.id}`,
      tone: 'held',
      title: `${pipeline.name} reports ${rate(rates.errors)} errors`,
      note: `${rate(rates.eventsIn)} in, ${rate(rates.eventsOut)} out`,
      harm: 60,
    });
  }
  const degraded = counts.crashed === 0 ? degradedReason(gate) : null;
  if (degraded !== null)
    found.push({
      ...about,
      key: `degraded-${pipeline.id}`,
      tone: 'held',
      title: `${pipeline.name} is degraded`,
      note: degraded,
      harm: 65,
    });
  const stuck = gate.find(({ state, reason }) => state === 'held' && reason !== degraded);
  // Only unreachable nodes hold a delivery, and each of them is a problem of its own for all its pipelines.
  const isReported = anyUnreachable && (stuck?.point === 'delivered' || stuck?.point === 'running');
  if (stuck && counts.crashed === 0 && refused === null && !isReported) {
    found.push({
      ...about,
      key: `held-${pipeline.id}`,
      tone: 'held',
      title: `${pipeline.name} is held at ${stuck.point}`,
      note: stuck.reason,
      harm: 40,
    });
  }
  return found;
}

/** The reason in the gate where an engine runs without a part of the pipeline. */
const degradedReason = (gate: PipelineStatus['gate']): string | null =>
  gate.find(
    ({ point, state, reason }) =>
      point === 'running' && state === 'held' && reason.startsWith('Degraded on '),
  )?.reason ?? null;

function nodeProblems({ node, health, healthReason, desired, crashed }: NodeStatus): Problem[] {
  const about = { ...NO_LOCATION, kind: 'node' as const, id: node.id, key: `node-${node.id}` };
  if (health === 'UNREACHABLE') {
    const note = healthReason || `${plural(desired, 'pipeline')} should run there.`;
    return [{ ...about, tone: 'failed', title: `${node.name} is unreachable`, note, harm: 80 }];
  }
  // A crash is reported with its pipeline.
  if (health === 'DEGRADED' && crashed === 0)
    return [{ ...about, tone: 'held', title: `${node.name} is degraded`, note: healthReason, harm: 45 }];
  return [];
}

function gitProblems({ lastError, suspended, importErrors }: GitErrors): Problem[] {
  const about = { ...NO_LOCATION, kind: 'git' as const };
  const found = importErrors.map(
    ({ id, path, line, message }): Problem => ({
      key: `import-${id}`,
      kind: 'manifest',
      id: null,
      path,
      line,
      tone: 'failed',
      title: `${path}${line === null ? '' : `:${line}`} was refused`,
      note: message,
      harm: 50,
    }),
  );
  if (lastError !== null)
    found.push({
      ...about,
      key: 'git',
      tone: 'failed',
      title: 'The repository could not be read',
      note: lastError,
      harm: 70,
    });
  if (suspended)
    found.push({
      ...about,
      key: 'suspended',
      tone: 'held',
      title: 'Reconciling is suspended',
      note: 'Commits are read but not applied.',
      harm: 30,
    });
  return found;
}
