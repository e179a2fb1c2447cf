import type { Clock } from '../reconcilers/loops/clock.ts';

/** Resolves when the work is done, or after `ms` where it takes longer; it goes on then. */
export async function atMost(clock: Clock, ms: number, work: Promise<unknown> | undefined): Promise<void> {
  let cancel = () => {};
  const limit = new Promise<void>((done) => {
    cancel = clock.after(ms, done);
  });
  await Promise.race([work, limit]);
  cancel();
}
