/** On which nodes a plan starts, restarts and stops engines: what runs where now, against what would run where after it. */
import { effectiveLabels, type GroupRule, listGroupRules } from '../../controller/node-groups/index.ts';
import { compile, type Definition, listDeployed } from '../../controller/pipelines/index.ts';
import type { Context } from '../../controller/platform/context.ts';
import { desiredPlaces, readStatus } from '../../controller/status/index.ts';
import type { LabelMap } from '../../schemas/api/common.ts';
import type { DesiredManifest } from '../source/index.ts';
import { type Applying, applies, type Change, objectIdOf, type Plan } from './plan.ts';

export interface Touch {
  starts: string[];
  restarts: string[];
  stops: string[];
}

export interface Touched {
  /** Of the environment, in maintenance or not. */
  nodes: number;
  hostOf: ReadonlyMap<string, string>;
  /** Everything that is deployed now, and once the plan was applied. */
  before: readonly Running[];
  after: readonly Running[];
  /** For each node what runs on it then, and the labels that it has then. */
  nodesAfter: readonly NodeAfter[];
  /** Node ids by what causes it; a change of a node group causes nothing of its own, `moved` has that. */
  byChange: ReadonlyMap<Change, Touch>;
  /** Of pipelines that the plan does not change, because labels change. */
  moved: Touch;
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
}

const noTouch = (): Touch => ({ starts: [], restarts: [], stops: [] });

export async function touchedNodes(ctx: Context, environmentId: string, plan: Plan): Promise<Touched> {
  const status = await readStatus(ctx, { environmentId });
  const touching = plan.changes.filter(
    (change) => applies(change) || change.action === 'prune' || change.action === 'orphan',
  );
  const deployed = await listDeployed(ctx.db, environmentId);
  const groups = await listGroupRules(ctx.db, [environmentId]);
  const before: Running[] = deployed.map((one) => ({
    key: one.pipelineId,
    name: one.pipelineName,
    selector: one.nodeSelector,
    config: `${one.logLevel}\n${one.configYaml}`,
  }));
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
    else
      after.set(key, {
        key,
        name: change.manifest.name,
        selector: spec.nodeSelector ?? null,
        config: `${spec.logLevel}\n${compile(spec as Definition).configYaml}`,
      });
  }
  const now = status.nodes.map(({ node, labels }) => ({ labels, maintenance: node.maintenance }));
  const planned = groupsAfter(groups, touching);
  const then = status.nodes.map(({ node }) => ({
    labels: effectiveLabels(node.agentLabels, node.uiLabels, planned),
    maintenance: node.maintenance,
  }));
  const runsNow = placesOf(before, now);
  const runsThen = placesOf([...after.values()], then);
  const byChange = new Map<Change, Touch>();
  const moved = noTouch();
  for (const [index, { node }] of status.nodes.entries()) {
    const was = runsNow[index] ?? new Map<string, string>();
    const willBe = runsThen[index] ?? new Map<string, string>();
    for (const key of new Set([...was.keys(), ...willBe.keys()])) {
      const effect = effectOf(was.get(key), willBe.get(key));
      if (effect === null) continue;
      const cause = causes.get(key);
      const touch = cause ? (byChange.get(cause) ?? noTouch()) : moved;
      if (cause) byChange.set(cause, touch);
      touch[effect].push(node.id);
    }
  }
  const hostOf = new Map(status.nodes.map(({ node }) => [node.id, node.host]));
  const nodesAfter = status.nodes.map(
    ({ node }, index): NodeAfter => ({
      host: node.host,
      engineVersion: node.engineVersion,
      labels: then[index]?.labels ?? {},
      maintenance: node.maintenance,
      runs: new Set(runsThen[index]?.keys()),
    }),
  );
  return {
    nodes: status.nodes.length,
    ...{ hostOf, byChange, moved, before, nodesAfter },
    after: [...after.values()],
  };
}

function effectOf(was: string | undefined, willBe: string | undefined): keyof Touch | null {
  if (was === willBe) return null;
  return was === undefined ? 'starts' : willBe === undefined ? 'stops' : 'restarts';
}

/** For each node what runs on it, by key. */
function placesOf(
  running: readonly Running[],
  nodes: readonly { labels: LabelMap; maintenance: boolean }[],
): Map<string, string>[] {
  const deployables = running.map(({ key, selector }) => ({
    isDraft: false,
    deployedVersionId: key,
    nodeSelector: selector,
  }));
  return desiredPlaces(deployables, nodes).map(
    (places) =>
      new Map(
        places.flatMap((place) => {
          const one = running[place];
          return one ? [[one.key, one.config] as const] : [];
        }),
      ),
  );
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

/** Nodes on which something that runs is interrupted. */
export function disturbedNodes({ byChange, moved }: Touched): Set<string> {
  return new Set([...byChange.values(), moved].flatMap(({ restarts, stops }) => [...restarts, ...stops]));
}
