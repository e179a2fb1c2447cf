import type { Knex } from 'knex';
import { isConnectionLost } from './errors.ts';

type Transaction = Knex.Transaction & { parentTransaction?: Transaction };

/**
 * Calls `run` once the outermost transaction that `db` belongs to has committed, and never after a rollback, also one to a
 * savepoint; at once where `db` is no transaction. A connection that broke during the commit leaves the outcome unknown:
 * then `run` is called as well. One that broke before the savepoint was left leaves nothing unknown.
 */
export function afterCommit(db: Knex, run: () => void): void {
  if (!db.isTransaction) {
    run();
    return;
  }
  const tx = db as Transaction;
  tx.executionPromise.then(
    () => (tx.parentTransaction ? afterCommit(tx.parentTransaction, run) : run()),
    (error: unknown) => {
      if (!tx.parentTransaction && isConnectionLost(error)) run();
    },
  );
}
