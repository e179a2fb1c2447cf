/** Samples by the second and by the tenth of a second. */
import { isGood, latenciesOf, select } from './figures.ts';
import { percentile } from './result.ts';
import type { SampleArrays } from './swarm/samples.ts';

const WINDOW_MS = 1_000;

/** What was due in each second from `from` to `to`. */
function bySecond(samples: SampleArrays, from: number, to: number): number[][] {
  const members: number[][] = Array.from({ length: Math.floor((to - from) / WINDOW_MS) }, () => []);
  for (const at of select(samples, (one) => samples.due[one]! >= from))
    members[Math.floor((samples.due[at]! - from) / WINDOW_MS)]?.push(at);
  return members;
}

const p99Of = (samples: SampleArrays, chosen: readonly number[]): number =>
  percentile(latenciesOf(samples, chosen), 0.99);

/** The highest p99 of a second, in milliseconds. */
export const worstSecondMs = (samples: SampleArrays, from: number, to: number): number =>
  Math.max(...bySecond(samples, from, to).map((chosen) => p99Of(samples, chosen)));

/**
 * Seconds from `from` until the last second in which something failed or the p99 of what was due in it reached `limitMs`;
 * Infinity when that is the last one that was watched.
 */
export function secondsToRecover(samples: SampleArrays, from: number, to: number, limitMs: number): number {
  const seconds = bySecond(samples, from, to);
  const bad = seconds.findLastIndex(
    (chosen) => chosen.some((at) => !isGood(samples.status[at]!)) || p99Of(samples, chosen) >= limitMs,
  );
  return bad === seconds.length - 1 ? Number.POSITIVE_INFINITY : bad + 1;
}

/** How many requests the busiest tenth of a second brought, against the mean of all. Only what was sent counts. */
export function peakOverMean(samples: SampleArrays, from: number, to: number): number {
  const tenths = new Float64Array(Math.floor((to - from) / 100));
  for (let at = 0; at < samples.sent.length; at += 1) {
    const tenth = Math.floor((samples.sent[at]! - from) / 100);
    if (tenth >= 0 && tenth < tenths.length) tenths[tenth]! += 1;
  }
  const mean = tenths.reduce((sum, count) => sum + count, 0) / tenths.length;
  return Math.max(...tenths) / mean;
}

/** Seconds from `from` until each of `nodes` has had a good answer of this kind to what it sent after that. */
export function secondsUntilAllBack(
  samples: SampleArrays,
  kind: number,
  nodes: number,
  from: number,
): number {
  const backAt = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
  for (let at = 0; at < samples.kind.length; at += 1) {
    const good = samples.kind[at] === kind && isGood(samples.status[at]!) && samples.sent[at]! >= from;
    if (good) backAt[samples.node[at]!] = Math.min(backAt[samples.node[at]!]!, samples.ended[at]!);
  }
  return (backAt.reduce((most, time) => Math.max(most, time), 0) - from) / 1_000;
}
