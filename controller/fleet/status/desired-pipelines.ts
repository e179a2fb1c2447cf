/** Computes which pipelines each node should run, without testing every pair of node and pipeline. */
import type { LabelMap } from '../../../schemas/api/common.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';
import { type Deployable, isCanary, type Target } from './version-for-node.ts';

const pairKey = (key: string, value: string) => `${key}\0${value}`;

/** The nodes that get a version: those that match the selector. */
interface VersionTarget {
  selector: LabelMap | null;
  /** Whether the nodes must be canary nodes; null if either. */
  canary: boolean | null;
}

function targetsOf({ isDraft, deployedVersionId, deployedSelector, rollout }: Deployable): VersionTarget[] {
  if (isDraft) return [];
  const deployed = deployedVersionId === null ? [] : [deployedSelector];
  if (rollout === null) return deployed.map((selector) => ({ selector, canary: null }));
  const both = intersect(rollout.canarySelector, rollout.nodeSelector);
  return [
    ...deployed.map((selector) => ({ selector, canary: false })),
    ...(both === null ? [] : [{ selector: both, canary: true }]),
  ];
}

/** A selector that matches both; null if one label would need two values. */
function intersect(first: LabelMap, second: LabelMap | null): LabelMap | null {
  const clashes = Object.entries(second ?? {}).some(
    ([key, value]) => Object.hasOwn(first, key) && first[key] !== value,
  );
  return clashes ? null : { ...first, ...second };
}

/**
 * Returns for each node the indexes in `pipelines` that it should run, ascending; `isCanary` decides the version. Selectors are
 * looked up by their rarest label, so the cost grows with the running pairs and not with nodes times pipelines.
 */
export function desiredPipelines(pipelines: readonly Deployable[], nodes: readonly Target[]): number[][] {
  const indexes: number[][] = nodes.map(() => []);
  const live = nodes.flatMap((node, index) => (node.maintenance ? [] : [index]));
  const targets = pipelines.map(targetsOf);
  const selectorPairs = new Set(
    targets.flatMap((all) =>
      all.flatMap(({ selector }) =>
        Object.entries(selector ?? {}).map(([key, value]) => pairKey(key, value)),
      ),
    ),
  );
  const nodesByPair = new Map<string, number[]>();
  if (selectorPairs.size > 0) {
    for (const index of live) {
      for (const [key, value] of Object.entries(nodes[index]?.labels ?? {})) {
        const pair = pairKey(key, value);
        if (!selectorPairs.has(pair)) continue;
        const known = nodesByPair.get(pair);
        if (known) known.push(index);
        else nodesByPair.set(pair, [index]);
      }
    }
  }
  const candidates = (selector: LabelMap): readonly number[] =>
    Object.entries(selector)
      .map(([key, value]) => nodesByPair.get(pairKey(key, value)) ?? [])
      .reduce((rarest, next) => (next.length < rarest.length ? next : rarest), live);
  for (const [pipelineIndex, pipeline] of pipelines.entries()) {
    for (const { selector, canary } of targets[pipelineIndex] ?? []) {
      for (const index of selector === null ? live : candidates(selector)) {
        const labels = nodes[index]?.labels ?? {};
        if (canary !== null && isCanary(pipeline, labels) !== canary) continue;
        if (matchesSelector(selector, labels)) indexes[index]?.push(pipelineIndex);
      }
    }
  }
  return indexes;
}
