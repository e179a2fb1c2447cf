/** At the start of a controller, before the repository is used: finishes what a restore has committed, and removes what others left. */
import type { Knex } from 'knex';
import type { Logger } from '../../platform/runtime/logger.ts';
import { readLastRestore } from '../runs/last-restore-store.ts';
import { updateRemainder, withRunLock } from '../runs/runs-store.ts';
import { deleteLeftovers, hasLeftovers } from './leftovers.ts';
import { finishRepository } from './pending-repository.ts';

/**
 * Called under the lock `PREPARING`. Answers the id of the last restore: another one means that the database is another one
 * than at this start.
 * @throws PRECONDITION_FAILED where something keeps the repository from its place
 */
export async function completeRestore(db: Knex, dataDir: string, log: Logger): Promise<string | null> {
  const last = await readLastRestore(db);
  if (last !== null && (await finishRepository(dataDir, last.id))) {
    await updateRemainder(db, last.id, null);
    log.info({ backup: last.filename }, 'the repository of a restored backup was put in its place');
  }
  // A data directory that the leader does not share is nobody else's to clean. The lock of a run under way is not to be had.
  if ((await hasLeftovers(db, dataDir)) && (await withRunLock(db, () => deleteLeftovers(db, dataDir))))
    log.info('what a restore left that did not come to its end was removed');
  return last?.id ?? null;
}
