/** On which nodes a plan starts, restarts and stops engines: compares what runs where now and after the plan. */
import { isDeepStrictEqual } from 'node:util';
import { effectiveLabels, type GroupRule, listGroupRules } from '../../../controller/fleet/groups/index.ts';
import {
  type Deployable,
  desiredPipelines,
  isCanary,
  readStatus,
} from '../../../controller/fleet/status/index.ts';
import {
  compile,
  type Definition,
  type DeployedConfig,
  listDeployed,
} from '../../../controller/pipelines/index.ts';
import type { Context } from '../../../controller/platform/operation/context.ts';
import type { LabelMap } from '../../../schemas/api/common.ts';
import type { DesiredManifest } from '../../source/index.ts';
import { type Applying, applies, type Change, objectIdOf, type Plan } from './plan.ts';

export interface Effect {
  starts: string[];
  restarts: string[];
  stops: string[];
}

export interface AffectedNodes {
  /** All nodes of the environment, those in maintenance included. */
  nodes: number;
  hostOf: ReadonlyMap<string, string>;
  /** Everything that is deployed now, and after the plan. */
  before: readonly Running[];
  after: readonly Running[];
  /** For each node, what runs on it once every rollout has reached all nodes, and its labels then. */
  nodesAfter: readonly NodeAfter[];
  /** For changes that reach canary nodes first: the number of canary nodes, and of nodes that follow. */
  stages: ReadonlyMap<Change, { first: number; later: number }>;
  /** Node ids by the change that affects them. The effects of node group changes are in `moved`. */
  byChange: ReadonlyMap<Change, Effect>;
  /** Effects on pipelines that the plan does not change: labels of nodes change. */
  moved: Effect;
}

export interface NodeAfter {
  host: string;
  /** As the node reports it: `vector 0.58.0 (…)`. */
  engineVersion: string | null;
  labels: LabelMap;
  maintenance: boolean;
  /** Keys of the pipelines that run on it. */
  runs: ReadonlySet<string>;
}

export interface Running {
  /** The pipeline's id, or one made from the manifest's name where the plan creates the pipeline. */
  key: string;
  name: string;
  selector: LabelMap | null;
  /** An engine restarts when this changes: its config, log level and drain time. */
  config: string;
  /** Set while canary nodes run it first; null where all nodes get it. */
  staged: {
    canarySelector: LabelMap;
    /** What the other nodes run meanwhile. */
    control: { selector: LabelMap | null; config: string } | null;
  } | null;
}

const noEffect = (): Effect => ({ starts: [], restarts: [], stops: [] });

export async function affectedNodes(ctx: Context, environmentId: string, plan: Plan): Promise<AffectedNodes> {
  const status = await readStatus(ctx, { environmentId });
  const affecting = plan.changes.filter(
    (change) => applies(change) || change.action === 'prune' || change.action === 'orphan',
  );
  const deployed = await listDeployed(ctx.db, environmentId);
  const groups = await listGroupRules(ctx.db, [environmentId]);
  const before = runningOf(deployed);
  const causes = new Map<string, Change>();
  const after = new Map(before.map((one) => [one.key, one]));
  for (const change of affecting) {
    if (!applies(change)) {
      if (change.action !== 'prune' || change.previous.kind !== 'Pipeline') continue;
      const key = change.previous.objectId ?? '';
      causes.set(key, change);
      after.delete(key);
      continue;
    }
    if (change.manifest.kind !== 'Pipeline') continue;
    const key = objectIdOf(change) ?? `new ${change.manifest.nameKey}`;
    causes.set(key, change);
    const { spec } = change.manifest as DesiredManifest<'Pipeline'>;
    if (!spec.deployed) after.delete(key);
    else {
      const planned = {
        key,
        name: change.manifest.name,
        selector: spec.nodeSelector ?? null,
        config: `${spec.logLevel} ${spec.drainSeconds ?? ''}\n${compile(spec as Definition).configYaml}`,
      };
      after.set(key, { ...planned, staged: stagedOf(spec, planned, after.get(key)) });
    }
  }
  const now = status.nodes.map(({ node, labels }) => ({ labels, maintenance: node.maintenance }));
  const planned = groupsAfter(groups, affecting);
  const then = status.nodes.map(({ node }) => ({
    labels: effectiveLabels(node.agentLabels, node.uiLabels, planned),
    maintenance: node.maintenance,
  }));
  const runsNow = runsPerNode(before, now);
  const runsThen = runsPerNode([...after.values()], then);
  const inTheEnd = runsPerNode(
    [...after.values()].map((one) => ({ ...one, staged: null })),
    then,
  );
  const byChange = new Map<Change, Effect>();
  const stages = new Map<Change, { first: number; later: number }>();
  for (const [key, change] of causes) if (after.get(key)?.staged) stages.set(change, { first: 0, later: 0 });
  const moved = noEffect();
  for (const [index, { node }] of status.nodes.entries()) {
    const was = runsNow[index] ?? new Map<string, string>();
    const willBe = runsThen[index] ?? new Map<string, string>();
    for (const key of new Set([...was.keys(), ...willBe.keys()])) {
      const cause = causes.get(key);
      const effect = effectOf(was.get(key), willBe.get(key));
      const stage = cause && stages.get(cause);
      if (stage && effect !== null) stage.first += 1;
      if (effect === null) continue;
      const total = cause ? (byChange.get(cause) ?? noEffect()) : moved;
      if (cause) byChange.set(cause, total);
      total[effect].push(node.id);
    }
  }
  for (const [key, change] of causes) {
    const stage = stages.get(change);
    if (stage)
      stage.later = runsThen.filter((runs, index) => runs.get(key) !== inTheEnd[index]?.get(key)).length;
  }
  const labelOf = distinctHosts(status.nodes.map(({ node }) => node));
  const hostOf = new Map(status.nodes.map(({ node }) => [node.id, labelOf(node)]));
  const nodesAfter = status.nodes.map(
    ({ node }, index): NodeAfter => ({
      host: labelOf(node),
      engineVersion: node.engineVersion,
      labels: then[index]?.labels ?? {},
      maintenance: node.maintenance,
      runs: new Set(inTheEnd[index]?.keys()),
    }),
  );
  return {
    nodes: status.nodes.length,
    ...{ hostOf, byChange, stages, moved, before, nodesAfter },
    after: [...after.values()],
  };
}

function effectOf(was: string | undefined, willBe: string | undefined): keyof Effect | null {
  if (was === willBe) return null;
  return was === undefined ? 'starts' : willBe === undefined ? 'stops' : 'restarts';
}

/** For each node what runs on it, by key. */
function runsPerNode(
  running: readonly Running[],
  nodes: readonly { labels: LabelMap; maintenance: boolean }[],
): Map<string, string>[] {
  const deployables = running.map(deployableOf);
  return desiredPipelines(deployables, nodes).map(
    (positions, index) =>
      new Map(
        positions.flatMap((position) => {
          const one = running[position];
          const deployable = deployables[position];
          if (!one || !deployable) return [];
          const isControl = one.staged && !isCanary(deployable, nodes[index]?.labels ?? {});
          return [[one.key, (isControl ? one.staged?.control?.config : null) ?? one.config] as const];
        }),
      ),
  );
}

function deployableOf({ key, selector, staged }: Running): Deployable {
  const base = { isDraft: false, rollout: null };
  if (!staged) return { ...base, deployedVersionId: key, deployedSelector: selector };
  const { canarySelector, control } = staged;
  return {
    ...base,
    deployedVersionId: control && key,
    deployedSelector: control?.selector ?? null,
    rollout: { versionId: key, nodeSelector: selector, canarySelector },
  };
}

/** One entry for each pipeline. During a rollout it holds the version that all nodes would get in the end. */
function runningOf(deployed: readonly DeployedConfig[]): Running[] {
  const textOf = (one: DeployedConfig) => `${one.logLevel} ${one.drainSeconds ?? ''}\n${one.configYaml}`;
  return [...Map.groupBy(deployed, ({ pipelineId }) => pipelineId)].flatMap(([key, versions]): Running[] => {
    const control = versions.find(({ isCanary }) => !isCanary);
    const canary = versions.find(({ isCanary }) => isCanary);
    const last = canary ?? control;
    if (!last) return [];
    return [
      {
        ...{ key, name: last.pipelineName, selector: last.nodeSelector, config: textOf(last) },
        staged: canary
          ? {
              canarySelector: canary.canarySelector ?? {},
              control: control ? { selector: control.nodeSelector, config: textOf(control) } : null,
            }
          : null,
      },
    ];
  });
}

/** A new version goes to canary nodes first, unless the other nodes already run the same. */
function stagedOf(
  { rollout }: DesiredManifest<'Pipeline'>['spec'],
  planned: Pick<Running, 'selector' | 'config'>,
  ran: Running | undefined,
): Running['staged'] {
  if (!rollout) return null;
  const control = ran?.staged ? ran.staged.control : (ran ?? null);
  const isSame = control?.config === planned.config && isDeepStrictEqual(control.selector, planned.selector);
  if (isSame) return null;
  return {
    canarySelector: rollout.canarySelector,
    control: control && { selector: control.selector, config: control.config },
  };
}

/** The group rules after the plan, in the order in which they give labels. */
function groupsAfter(groups: readonly GroupRule[], changes: readonly Change[]): GroupRule[] {
  const after = new Map(groups.map((group) => [group.id, group]));
  for (const change of changes) {
    if (applies(change) && change.manifest.kind === 'NodeGroup') {
      const rule = ruleOf(change);
      after.set(rule.id, rule);
    } else if (change.action === 'prune' && change.previous.kind === 'NodeGroup')
      after.delete(change.previous.objectId ?? '');
  }
  const key = ({ name }: GroupRule) => name.toLowerCase();
  return [...after.values()].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

function ruleOf(change: Applying): GroupRule {
  const { name, nameKey, spec } = change.manifest as DesiredManifest<'NodeGroup'>;
  return {
    id: objectIdOf(change) ?? `new ${nameKey}`,
    name,
    criteria: spec.criteria,
    labelTemplate: spec.labelTemplate,
    requiredLabels: spec.requiredLabels,
  };
}

/** Plans name nodes by their hosts; nodes that share a host, by their names. */
function distinctHosts(nodes: readonly { name: string; host: string }[]) {
  const times = new Map<string, number>();
  for (const { host } of nodes) times.set(host, (times.get(host) ?? 0) + 1);
  return ({ name, host }: { name: string; host: string }): string =>
    (times.get(host) ?? 0) > 1 ? name : host;
}

/** Nodes on which the plan restarts or stops an engine. */
export function disturbedNodes({ byChange, moved }: AffectedNodes): Set<string> {
  return new Set([...byChange.values(), moved].flatMap(({ restarts, stops }) => [...restarts, ...stops]));
}
