/** What the controller that leads has made of a push to this one, which does not. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Knex } from 'knex';
import { type Binding, reportOfPass } from '../../../controller/delivery/bindings/index.ts';
import { type Repository, resolveRef } from '../../source/index.ts';
import { missingRef } from '../plan/compute-plan.ts';

const LOOK_MS = 50;

/**
 * Waits for the leader's record of its pass over what the branch stands at now. `elapsed`: milliseconds since the push
 * began. `binding` is read after the push. Null when `signal` comes first.
 */
export async function leadersReport(
  options: { db: Knex; repository: Repository; elapsed: () => number; signal: AbortSignal },
  binding: Binding,
): Promise<readonly string[] | null> {
  const { db, repository, elapsed, signal } = options;
  const head = await resolveRef(repository, binding.ref);
  if (head === null) return [`${binding.environmentName}: ${missingRef(binding)}`];
  while (!signal.aborted) {
    const report = await reportOfPass(db, binding.id, head, elapsed());
    if (report) return report;
    // It had been read before the push, so the push was about something else.
    if (binding.headCommit?.sha === head) return [`${binding.environmentName}: nothing to do`];
    await sleep(LOOK_MS);
  }
  return null;
}
