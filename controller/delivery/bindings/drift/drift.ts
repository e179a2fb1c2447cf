/** Compares, object by object: the spec applied last, the spec in git now, the database, and what nodes run. */
import { OWNABLE_KINDS, type OwnableKind } from '../../../../schemas/api/delivery/git-policy.ts';
import { type Drift, DriftReport, ReadDrift } from '../../../../schemas/api/delivery/git-words.ts';
import { type NodeStatus, type PipelineStatus, readStatus } from '../../../fleet/status/index.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import { query } from '../../../platform/operation/operation.ts';
import { type InventoryRecord, readInventory } from '../inventory/inventory-store.ts';
import { policiesOf } from '../policy/policy.ts';
import { findBinding } from '../store.ts';
import { listAppliedVersions, listRunningChecksums, type RunningChecksum } from './drift-queries.ts';

declare module '../../../platform/operation/context.ts' {
  interface Services {
    /** The checksum of the config that nodes are served, by the id of each version that some node of the environment gets. */
    servedChecksums(environmentId: string): Promise<ReadonlyMap<string, string>>;
  }
}

const MAX_DIFFERING_NODES = 50;
type Nodes = NonNullable<Drift['nodes']>;
type NodeState = Nodes['differing'][number]['state'];

export const drift = query({
  name: 'gitSync.drift',
  summary: 'Where git, the database and the nodes differ',
  role: 'VIEWER',
  permission: 'gitops.read',
  input: ReadDrift,
  output: DriftReport,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, differing = false }) {
    const binding = await findBinding(ctx.db, environmentId);
    if (!binding) return { environmentId, selfHeal: true, objects: [] };
    const lines = await readInventory(ctx.db, binding.id);
    const { nodes, pipelines } = await readStatus(ctx, { environmentId });
    const running = Map.groupBy(
      await listRunningChecksums(ctx.db, environmentId),
      ({ pipelineId }) => pipelineId,
    );
    const versions = new Map(
      (await listAppliedVersions(ctx.db, binding.id)).map((appliedVersion) => [
        appliedVersion.pipelineId,
        appliedVersion,
      ]),
    );
    const served = await ctx.services.servedChecksums(environmentId);
    const statuses = new Map(pipelines.map((status) => [status.pipeline.id, status]));
    const { selfHeal } = policiesOf(binding).effective;
    const objects = lines
      .filter(({ kind, path }) => KINDS.has(kind) && path !== '')
      .map((line): Drift => {
        const status = line.objectId === null ? undefined : statuses.get(line.objectId);
        const onNodes = status ? nodesOf(status, nodes, running.get(status.pipeline.id) ?? [], served) : null;
        const applied = line.objectId === null ? undefined : versions.get(line.objectId);
        const states = statesOf(line, onNodes);
        return {
          kind: line.kind as OwnableKind,
          name: line.name,
          objectId: line.objectId,
          path: line.path,
          line: line.line,
          lastApplied: {
            hash: line.appliedHash,
            commit: line.appliedCommit,
            version: applied?.version ?? null,
            deployed: null,
            at: applied?.at ?? null,
          },
          git: {
            hash: line.prunePending ? null : line.seenHash,
            commit: line.seenCommit,
            version: null,
            deployed: null,
            at: null,
          },
          database: {
            hash: line.objectHash,
            commit: status?.pipeline.deployedCommit ?? null,
            version: line.objectVersion,
            deployed: status ? !status.pipeline.isDraft : line.objectDeployed,
            at: status?.pipeline.deployedAt ?? null,
          },
          nodes: onNodes,
          states,
          explanation: explain(line, states, onNodes, selfHeal),
        };
      })
      .sort((a, b) => badness(a) - badness(b) || byName(a, b));
    return {
      environmentId,
      selfHeal,
      objects: differing ? objects.filter(({ states }) => states[0] !== 'same') : objects,
    };
  },
});

const KINDS: ReadonlySet<string> = new Set<OwnableKind>(OWNABLE_KINDS);

/** The worst first. */
const ORDER = [
  'refused',
  'database-drifted',
  'nodes-drifted',
  'waiting',
  'git-ahead',
  'same',
] as const satisfies readonly Drift['states'][number][];

const badness = ({ states }: Drift) => ORDER.indexOf(states[0] ?? 'same');
const keyOf = ({ kind, name }: Drift) => `${kind} ${name.toLowerCase()}`;
const byName = (a: Drift, b: Drift) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0);

/** Reasons of `Applied` for which the manifest is not at fault: it waits for somebody or something. */
const WAITING: ReadonlySet<string> = new Set([
  'Guarded',
  'Held',
  'Suspended',
  'Observing',
  'Blocked',
  'PruneWaits',
  'PruneRefused',
  'HistoryRewritten',
]);

function statesOf(line: InventoryRecord, nodes: Nodes | null): Drift['states'] {
  const { conditions, appliedHash, seenHash, objectId, objectHash } = line;
  const bad = conditions.filter(({ status }) => status === 'False');
  const applied = conditions.find(({ type }) => type === 'Applied');
  const found = new Set<Drift['states'][number]>();
  if (bad.some(({ reason }) => !WAITING.has(reason))) found.add('refused');
  if (applied?.status === 'False' && WAITING.has(applied.reason)) found.add('waiting');
  if (objectId !== null && appliedHash !== null && objectHash !== appliedHash) found.add('database-drifted');
  if (!line.prunePending && seenHash !== null && seenHash !== appliedHash) found.add('git-ahead');
  if (nodes && nodes.differing.length > 0) found.add('nodes-drifted');
  return found.size === 0 ? ['same'] : ORDER.filter((state) => found.has(state));
}

function nodesOf(
  { pipeline }: PipelineStatus,
  nodes: readonly NodeStatus[],
  running: readonly RunningChecksum[],
  served: ReadonlyMap<string, string>,
): Nodes {
  const reports = new Map(running.map((run) => [run.nodeId, run]));
  let total = 0;
  let same = 0;
  const differing: Nodes['differing'] = [];
  for (const { node, health, pairs } of nodes) {
    const pair = pairs.find((pair) => pair.pipeline.id === pipeline.id);
    if (!pair) continue;
    total += 1;
    const report = reports.get(node.id);
    const expected = served.get(pair.versionId ?? '');
    const state = stateOf(pair.desired, health === 'UNREACHABLE' || health === 'UNKNOWN', report, expected);
    if (state === 'same') {
      same += 1;
      continue;
    }
    differing.push({
      nodeId: node.id,
      host: node.host,
      state,
      checksum: report?.checksum ?? null,
      expected: pair.desired ? (expected ?? null) : null,
      version: report?.version ?? null,
      heardAt: report?.heardAt ?? node.heardAt,
    });
  }
  differing.sort((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : 0));
  return { total, same, differing: differing.slice(0, MAX_DIFFERING_NODES) };
}

function stateOf(
  desired: boolean,
  silent: boolean,
  report: RunningChecksum | undefined,
  expected: string | undefined,
): NodeState {
  if (silent) return 'silent';
  if (!desired) return 'extra';
  if (!report || report.status === 'STOPPED') return 'none';
  return expected !== undefined && report.checksum === expected ? 'same' : 'other';
}

function explain(
  line: InventoryRecord,
  states: Drift['states'],
  nodes: Nodes | null,
  selfHeal: boolean,
): string {
  const bad = line.conditions.find(({ status }) => status === 'False');
  switch (states[0]) {
    case 'refused':
    case 'waiting':
      return bad?.message ?? 'It is not applied';
    case 'database-drifted': {
      const what =
        line.objectName === null
          ? 'Somebody has deleted it past git'
          : 'Somebody has changed it past git since it was applied';
      const applied = line.conditions.find(({ type }) => type === 'Applied');
      if (applied?.status === 'False') return `${what}. ${applied.message}`;
      return `${what}; ${selfHeal ? 'the next pass sets it back' : 'it is left so (selfHeal: false)'}`;
    }
    case 'nodes-drifted':
      return `${nodesText(nodes)} what the database has accepted; ${
        nodes?.differing.every(({ state }) => state === 'silent')
          ? 'they have not been heard of'
          : 'they follow with their next poll, unless the page of the node says why not'
      }`;
    case 'git-ahead':
      return 'Git has a newer spec, which the next pass applies';
    default:
      return 'Git, the database and the nodes agree';
  }
}

const nodesText = (nodes: Nodes | null) => {
  const count = nodes ? nodes.total - nodes.same : 0;
  return count === 1 ? '1 node does not run' : `${count} nodes do not run`;
};
