/** What is wrong in an environment now, worst first. Pure. */
import type { Problem } from '../../../schemas/api/dashboard.ts';
import type { Joined, NodeStatus, PipelineStatus } from '../../fleet/status/index.ts';

export interface GitErrors {
  lastError: string | null;
  suspended: boolean;
  /** At least as many as are told of. */
  importErrors: readonly { id: string; path: string; line: number | null; message: string }[];
}

const NOWHERE = { id: null, path: null, line: null };
const number = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const rate = (perSecond: number) => `${number.format(perSecond)}/s`;
const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

export function problemsOf({ pipelines, nodes }: Joined, git: GitErrors | null): Problem[] {
  const someUnheard = nodes.some(({ health }) => health === 'UNREACHABLE');
  return [
    ...pipelines.flatMap((status) => ofPipeline(status, someUnheard)),
    ...nodes.flatMap(ofNode),
    ...(git ? ofGit(git) : []),
  ].sort((a, b) => b.harm - a.harm || a.title.localeCompare(b.title));
}

function ofPipeline(
  { pipeline, counts, gate, rates, refused }: PipelineStatus,
  someUnheard: boolean,
): Problem[] {
  const about = { ...NOWHERE, kind: 'pipeline' as const, id: pipeline.id };
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
      note: gate.find(({ state }) => state === 'failed')?.reason ?? 'The engine ended by itself.',
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
  // Delivery is held only by nodes that are not heard: those are told of once, for all their pipelines.
  const told = someUnheard && (stuck?.point === 'delivered' || stuck?.point === 'running');
  if (stuck && counts.crashed === 0 && refused === null && !told) {
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

/** Its engine runs without a part of it, as the gate has it. */
const degradedReason = (gate: PipelineStatus['gate']): string | null =>
  gate.find(
    ({ point, state, reason }) =>
      point === 'running' && state === 'held' && reason.startsWith('Degraded on '),
  )?.reason ?? null;

function ofNode({ node, health, healthReason, desired, crashed }: NodeStatus): Problem[] {
  const about = { ...NOWHERE, kind: 'node' as const, id: node.id, key: `node-${node.id}` };
  if (health === 'UNREACHABLE') {
    const note = healthReason || `${plural(desired, 'pipeline')} should run there.`;
    return [{ ...about, tone: 'failed', title: `${node.name} is unreachable`, note, harm: 80 }];
  }
  // A crash is told of with its pipeline.
  if (health === 'DEGRADED' && crashed === 0)
    return [{ ...about, tone: 'held', title: `${node.name} is degraded`, note: healthReason, harm: 45 }];
  return [];
}

function ofGit({ lastError, suspended, importErrors }: GitErrors): Problem[] {
  const about = { ...NOWHERE, kind: 'git' as const };
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
      note: 'Commits are read and not applied.',
      harm: 30,
    });
  return found;
}
