/** What the swarm's samples say. */
import { ms, percentile, whole } from './result.ts';
import type { SampleArrays } from './swarm/samples.ts';

/** Positions of the samples that `pick` takes. */
export function select(samples: SampleArrays, pick: (at: number) => boolean): number[] {
  const chosen: number[] = [];
  for (let at = 0; at < samples.kind.length; at += 1) if (pick(at)) chosen.push(at);
  return chosen;
}

/** Milliseconds from when each was due to its whole answer. */
export function latenciesOf(samples: SampleArrays, chosen: readonly number[]): Float64Array {
  return Float64Array.from(chosen, (at) => samples.ended[at]! - samples.due[at]!);
}

export function latencyText(latencies: Float64Array): string {
  const [p50, p99, longest] = [0.5, 0.99, 1].map((share) => percentile(latencies, share)) as [
    number,
    number,
    number,
  ];
  return `p50 ${ms(p50)}, p99 ${ms(p99)}, longest ${ms(longest)}`;
}

/** How many were answered with what, `0` for no answer. */
export function statusesOf(samples: SampleArrays, chosen: Iterable<number>): Map<number, number> {
  const statuses = new Map<number, number>();
  for (const at of chosen) {
    const status = samples.status[at]!;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return new Map([...statuses].sort(([a], [b]) => a - b));
}

export function statusText(statuses: ReadonlyMap<number, number>): string {
  const words = [...statuses].map(
    ([status, count]) => `${whole(count)} ${status === 0 ? 'without an answer' : `× ${status}`}`,
  );
  return words.join(', ') || 'none';
}

export const isGood = (status: number): boolean => status === 200 || status === 304;

/** How late the generator itself was: from when a request was due, on an idle connection, until it went out. */
export function ownLag(samples: SampleArrays): Float64Array {
  const free = select(samples, (at) => samples.held[at] === 0 && samples.sent[at]! > 0);
  return Float64Array.from(free, (at) => samples.sent[at]! - samples.due[at]!);
}
