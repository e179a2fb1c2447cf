/** What is wrong in an environment now, worst first. */
import type { NodeSummary } from '../../../schemas/api/fleet.ts';
import type { GitSyncStatus, ImportError } from '../../../schemas/api/git-sync.ts';
import type { PipelineSummary } from '../../../schemas/api/pipelines.ts';
import { paths } from '../app/paths.ts';
import type { Tone } from '../components/bits.tsx';
import { formatRate, plural } from '../components/format.ts';

export interface Trouble {
  key: string;
  tone: Tone;
  title: string;
  note: string;
  href: string;
  /** Larger is worse: data lost now, then data at risk, then changes that do not arrive. */
  harm: number;
}

interface Facts {
  environmentId: string;
  pipelines: readonly PipelineSummary[];
  nodes: readonly NodeSummary[];
  git: GitSyncStatus | undefined;
  importErrors: readonly ImportError[];
}

export function troublesOf({ environmentId: env, pipelines, nodes, git, importErrors }: Facts): Trouble[] {
  const found: Trouble[] = [];
  const someUnheard = nodes.some(({ status }) => status === 'UNREACHABLE');
  for (const pipeline of pipelines) {
    const { crashed, total } = pipeline.nodeCounts;
    if (crashed > 0) {
      found.push({
        key: `crash-${pipeline.id}`,
        tone: 'failed',
        title: `${pipeline.name} crashed on ${crashed} of ${plural(total, 'node')}`,
        note: pipeline.gate.find(({ state }) => state === 'failed')?.reason ?? 'The engine ended by itself.',
        href: paths.pipeline(env, pipeline.id),
        harm: 90 + (10 * crashed) / Math.max(total, 1),
      });
    } else if (pipeline.rates.errors > 0) {
      found.push({
        key: `errors-${pipeline.id}`,
        tone: 'held',
        title: `${pipeline.name} reports ${formatRate(pipeline.rates.errors)} errors`,
        note: `${formatRate(pipeline.rates.eventsIn)} in, ${formatRate(pipeline.rates.eventsOut)} out`,
        href: paths.pipeline(env, pipeline.id, { tab: 'nodes' }),
        harm: 60,
      });
    }
    const stuck = pipeline.gate.find(({ state }) => state === 'held');
    // Delivery is held only by nodes that are not heard: those are told below, once for all their pipelines.
    const told = someUnheard && (stuck?.point === 'delivered' || stuck?.point === 'running');
    if (stuck && crashed === 0 && !told) {
      found.push({
        key: `held-${pipeline.id}`,
        tone: 'held',
        title: `${pipeline.name} is held at ${stuck.point}`,
        note: stuck.reason,
        href: paths.pipeline(env, pipeline.id),
        harm: 40,
      });
    }
  }
  for (const node of nodes) {
    if (node.status === 'UNREACHABLE') {
      found.push({
        key: `node-${node.id}`,
        tone: 'failed',
        title: `${node.name} is unreachable`,
        note: node.statusReason || `${plural(node.pipelinesDesired, 'pipeline')} should run there.`,
        href: paths.node(env, node.id),
        harm: 80,
      });
    } else if (node.status === 'DEGRADED' && node.pipelinesCrashed === 0) {
      found.push({
        key: `node-${node.id}`,
        tone: 'held',
        title: `${node.name} is degraded`,
        note: node.statusReason,
        href: paths.node(env, node.id),
        harm: 45,
      });
    }
  }
  if (git?.lastError) {
    found.push({
      key: 'git',
      tone: 'failed',
      title: 'The repository could not be read',
      note: git.lastError,
      href: paths.git(env),
      harm: 70,
    });
  }
  for (const error of importErrors) {
    found.push({
      key: `import-${error.id}`,
      tone: 'failed',
      title: `${error.path}${error.line ? `:${error.line}` : ''} was refused`,
      note: error.message,
      href: paths.git(env, { focus: error.path }),
      harm: 50,
    });
  }
  if (git?.suspended) {
    found.push({
      key: 'suspended',
      tone: 'held',
      title: 'Reconciling is suspended',
      note: 'Commits are read and not applied.',
      href: paths.git(env),
      harm: 30,
    });
  }
  return found.sort((a, b) => b.harm - a.harm || a.title.localeCompare(b.title));
}
