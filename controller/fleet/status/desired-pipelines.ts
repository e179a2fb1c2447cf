/** Which pipelines each of many nodes should run, without looking at every pair of them. */
import type { LabelMap } from '../../../schemas/api/common.ts';
import { matchesSelector } from '../../../schemas/pipelines/selector.ts';
import { type Deployable, isCanary, type Target } from './version-for-node.ts';

const pairKey = (key: string, value: string) => `${key}\0${value}`;

/** Nodes that get a version: those with these labels. */
interface Wish {
  selector: LabelMap | null;
  /** Null: on whichever side of a canary. */
  canary: boolean | null;
}

function wishesOf({ isDraft, deployedVersionId, deployedSelector, rollout }: Deployable): Wish[] {
  if (isDraft) return [];
  const deployed = deployedVersionId === null ? [] : [deployedSelector];
  if (rollout === null) return deployed.map((selector) => ({ selector, canary: null }));
  const both = bothOf(rollout.canarySelector, rollout.nodeSelector);
  return [
    ...deployed.map((selector) => ({ selector, canary: false })),
    ...(both === null ? [] : [{ selector: both, canary: true }]),
  ];
}

/** What matches both; null where one label would need two values. */
function bothOf(one: LabelMap, other: LabelMap | null): LabelMap | null {
  const clashes = Object.entries(other ?? {}).some(
    ([key, value]) => Object.hasOwn(one, key) && one[key] !== value,
  );
  return clashes ? null : { ...one, ...other };
}

/**
 * For each node the places in `pipelines` of those that it should run, ascending; which version that is tells `isCanary`.
 * A selector is looked up by its rarest pair, so that the work grows with what runs and not with nodes times pipelines.
 */
export function desiredPipelines(pipelines: readonly Deployable[], nodes: readonly Target[]): number[][] {
  const places: number[][] = nodes.map(() => []);
  const live = nodes.flatMap((node, index) => (node.maintenance ? [] : [index]));
  const wishes = pipelines.map(wishesOf);
  const asked = new Set(
    wishes.flatMap((all) =>
      all.flatMap(({ selector }) =>
        Object.entries(selector ?? {}).map(([key, value]) => pairKey(key, value)),
      ),
    ),
  );
  const carriers = new Map<string, number[]>();
  if (asked.size > 0) {
    for (const index of live) {
      for (const [key, value] of Object.entries(nodes[index]?.labels ?? {})) {
        const pair = pairKey(key, value);
        if (!asked.has(pair)) continue;
        const known = carriers.get(pair);
        if (known) known.push(index);
        else carriers.set(pair, [index]);
      }
    }
  }
  const candidates = (selector: LabelMap): readonly number[] =>
    Object.entries(selector)
      .map(([key, value]) => carriers.get(pairKey(key, value)) ?? [])
      .reduce((rarest, next) => (next.length < rarest.length ? next : rarest), live);
  for (const [place, pipeline] of pipelines.entries()) {
    for (const { selector, canary } of wishes[place] ?? []) {
      for (const index of selector === null ? live : candidates(selector)) {
        const labels = nodes[index]?.labels ?? {};
        if (canary !== null && isCanary(pipeline, labels) !== canary) continue;
        if (matchesSelector(selector, labels)) places[index]?.push(place);
      }
    }
  }
  return places;
}
