/** Which pipelines each of many nodes should run, without looking at every pair of them. */
import type { LabelMap } from '../../schemas/api/common.ts';
import { matchesSelector } from '../../schemas/pipelines/selector.ts';
import type { Deployable, Target } from './selection.ts';

const pairKey = (key: string, value: string) => `${key}\0${value}`;

/**
 * For each node the places in `pipelines` of those that it should run, ascending. A selector is looked up by its rarest
 * pair, so that the work grows with what runs and not with nodes times pipelines.
 */
export function desiredPlaces(pipelines: readonly Deployable[], nodes: readonly Target[]): number[][] {
  const places: number[][] = nodes.map(() => []);
  const live = nodes.flatMap((node, index) => (node.maintenance ? [] : [index]));
  const asked = new Set(
    pipelines.flatMap(({ nodeSelector }) =>
      Object.entries(nodeSelector ?? {}).map(([key, value]) => pairKey(key, value)),
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
    if (pipeline.isDraft || pipeline.deployedVersionId === null) continue;
    const selector = pipeline.nodeSelector;
    for (const index of selector === null ? live : candidates(selector)) {
      if (matchesSelector(selector, nodes[index]?.labels ?? {})) places[index]?.push(place);
    }
  }
  return places;
}
