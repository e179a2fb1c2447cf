/** Reads, on a controller that does not lead, what the leader's pass made of a push. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type Binding, reportOfPass } from '../../../controller/delivery/bindings/index.ts';
import { type Repository, resolveRef } from '../../source/index.ts';
import { missingRef } from '../plan/compute-plan.ts';
import type { PushReport } from './push-report.ts';

const POLL_MS = 50;

/**
 * Waits until the leader has recorded its pass over the branch's current commit. `elapsed`: milliseconds since the push
 * began. `binding` must have been read after the push. Null where `signal` aborts first.
 */
export async function readLeaderReport(
  options: { db: Knex; repository: Repository; elapsed: () => number; signal: AbortSignal },
  binding: Binding,
): Promise<PushReport | null> {
  const { db, repository, elapsed, signal } = options;
  const head = await resolveRef(repository, binding.ref);
  const environment = binding.environmentName;
  if (head === null) return { type: 'message', environment, message: missingRef(binding) };
  while (!signal.aborted) {
    const lines = await reportOfPass(db, binding.id, head, elapsed());
    if (lines) return { type: 'recorded', lines };
    // The commit was read before the push, so the push did not move this branch.
    if (binding.headCommit?.sha === head) return { type: 'message', environment, message: 'nothing to do' };
    await sleep(POLL_MS);
  }
  return null;
}
