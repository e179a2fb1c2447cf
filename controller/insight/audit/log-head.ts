/**
 * The head of the audit chain, and where its key begins, for a log that is stored elsewhere: who rewrites the database cannot
 * rewrite that.
 */
import type { Context, Services } from '../../platform/operation/context.ts';
import { always } from '../../platform/runtime/logger.ts';
import { keyedFromOf } from './chain/chain.ts';
import { readChainKey } from './chain/chain-key.ts';
import { readHead } from './store.ts';

/**
 * On the leader, every hour, whatever the level of the log. `headgate audit verify --head <seq>:<hash> --keyed-from <seq>`
 * compares the log with such a line. @throws KeyringError where the key of the log is sealed with one that is not here.
 */
export async function logAuditHead({
  db,
  log,
  services,
}: Pick<Context, 'db' | 'log'> & { services: Pick<Services, 'keyring'> }): Promise<void> {
  const { seq, hash } = await readHead(db);
  if (seq === 0) return;
  const key = await readChainKey(db, services.keyring);
  always(log).info({ seq, hash, keyedFrom: keyedFromOf(key) }, 'audit log head');
}
