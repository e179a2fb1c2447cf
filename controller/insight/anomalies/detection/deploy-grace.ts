/** What a pipeline does right after a deploy is not compared, and nothing is compared with it. Pure. */

const GRACE_MS = 15 * 60_000;

/** Leaves out the values of steps that the grace of a deploy reaches into. The first step begins at `from`. */
export function withoutGrace(
  values: readonly (number | null)[],
  from: number,
  stepMs: number,
  deploys: readonly number[],
): (number | null)[] {
  const rest = [...values];
  for (const deployedAt of deploys) {
    const first = Math.max(0, Math.floor((deployedAt - from) / stepMs));
    const last = Math.min(rest.length - 1, Math.ceil((deployedAt + GRACE_MS - from) / stepMs) - 1);
    for (let step = first; step <= last; step += 1) rest[step] = null;
  }
  return rest;
}
