/** On which nodes a plan starts, restarts and stops engines: what runs where now, against what would run where after it. */
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
  /** Of the environment, in maintenance or not. */
  nodes: number;
  hostOf: ReadonlyMap<string, string>;
  /** Everything that is deployed now, and once the plan was applied. */
  before: readonly Running[];
  after: readonly Running[];
  /** For each node what runs on it in the end, once every rollout was broadened, and the labels that it has then. */
  nodesAfter: readonly NodeAfter[];
  /** Of changes that reach canary nodes first: how many nodes that are, and how many come after them. */
  stages: ReadonlyMap<Change, { first: number; later: number }>;
  /** Node ids by what causes it; a change of a node group causes nothing of its own, `moved` has that. */
  byChange: ReadonlyMap<Change, Effect>;
  /** Of pipelines that the plan does not change, because labels change. */
  moved: Effect;
}

export interface NodeAfter {
  host: string;
  /** What it runs, as it says itself: `vector 0.58.0 (…)`. */
  engineVersion: string | null;
  labels: LabelMap;
  maintenance: boolean;
  /** Keys of what runs on it. */
  runs: ReadonlySet<string>;
}

export interface Running {
  /** The pipeline's id; of one that is to be made, of its manifest. */
  key: string;
  name: string;
  selector: LabelMap | null;
  /** What an engine restarts for: its config and its log level. */
  config: string;
  /** While some nodes have it first; null where all get it. */
  staged: {
    canarySelector: LabelMap;
    /** What the others run meanwhile. */
    control: { selector: LabelMap | null; config: string } | null;
  } | null;
}

const noTouch = (): Effect => ({ starts: [], restarts: [], stops: [] });

export async function affectedNodes(ctx: Context, environmentId: string, plan: Plan): Promise<AffectedNodes> {
  const status = await readStatus(ctx, { environmentId });
  const touching = plan.changes.filter(
    (change) => applies(change) || change.action === 'prune' || change.action === 'orphan',
  );
  const deployed = await listDeployed(ctx.db, environmentId);
  const groups = await listGroupRules(ctx.db, [environmentId]);
  const before = runningOf(deployed);
  const causes = new Map<string, Change>();
  const after = new Map(before.map((one) => [one.key, one]));
  for (const change of touching) {
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
  const planned = groupsAfter(groups, touching);
  const then = status.nodes.map(({ node }) => ({
    labels: effectiveLabels(node.agentLabels, node.uiLabels, planned),
    maintenance: node.maintenance,
  }));
  const runsNow = placesOf(before, now);
  const runsThen = placesOf([...after.values()], then);
  const inTheEnd = placesOf(
    [...after.values()].map((one) => ({ ...one, staged: null })),
    then,
  );
  const byChange = new Map<Change, Effect>();
  const stages = new Map<Change, { first: number; later: number }>();
  for (const [key, change] of causes) if (after.get(key)?.staged) stages.set(change, { first: 0, later: 0 });
  const moved = noTouch();
  for (const [index, { node }] of status.nodes.entries()) {
    const was = runsNow[index] ?? new Map<string, string>();
    const willBe = runsThen[index] ?? new Map<string, string>();
    for (const key of new Set([...was.keys(), ...willBe.keys()])) {
      const cause = causes.get(key);
      const effect = effectOf(was.get(key), willBe.get(key));
      const stage = cause && stages.get(cause);
      if (stage && effect !== null) stage.first += 1;
      if (effect === null) continue;
      const touch = cause ? (byChange.get(cause) ?? noTouch()) : moved;
      if (cause) byChange.set(cause, touch);
      touch[effect].push(node.id);
    }
  }
  for (const [key, change] of causes) {
    const stage = stages.get(change);
    if (stage)
      stage.later = runsThen.filter((runs, index) => runs.get(key) !== inTheEnd[index]?.get(key)).length;
  }
  const calledOf = apart(status.nodes.map(({ node }) => node));
  const hostOf = new Map(status.nodes.map(({ node }) => [node.id, calledOf(node)]));
  const nodesAfter = status.nodes.map(
    ({ node }, index): NodeAfter => ({
      host: calledOf(node),
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
function placesOf(
  running: readonly Running[],
  nodes: readonly { labels: LabelMap; maintenance: boolean }[],
): Map<string, string>[] {
  const deployables = running.map(deployableOf);
  return desiredPipelines(deployables, nodes).map(
    (places, index) =>
      new Map(
        places.flatMap((place) => {
          const one = running[place];
          const deployable = deployables[place];
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

/** By pipeline; of one with a rollout the version that all would get in the end. */
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

/** As git's version would go: to canary nodes first, unless the others run the very same. */
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

/** The rules as they are once the plan was applied, in the order in which they give labels. */
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

/** Hosts as plans name them; nodes that share one by their names, which tell them apart. */
function apart(nodes: readonly { name: string; host: string }[]) {
  const times = new Map<string, number>();
  for (const { host } of nodes) times.set(host, (times.get(host) ?? 0) + 1);
  return ({ name, host }: { name: string; host: string }): string =>
    (times.get(host) ?? 0) > 1 ? name : host;
}

/** Nodes on which something that runs is interrupted. */
export function disturbedNodes({ byChange, moved }: AffectedNodes): Set<string> {
  return new Set([...byChange.values(), moved].flatMap(({ restarts, stops }) => [...restarts, ...stops]));
}
