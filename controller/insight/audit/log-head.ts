/**
 * Writes the head of the audit chain and the start of its key to the controller's log, which is stored elsewhere: an attacker
 * who rewrites the database cannot rewrite it.
 */
import type { Context, Services } from '../../platform/operation/context.ts';
import { always } from '../../platform/runtime/logger.ts';
import { firstKeyedSeq } from './chain/chain.ts';
import { readChainKey } from './chain/chain-key.ts';
import { readHead } from './store.ts';

/**
 * Runs on the leader every hour and logs at any log level. `headgate audit verify --head <seq>:<hash> --keyed-from <seq>`
 * compares the audit log with such a line. @throws KeyringError where the keyring lacks the key that the log's key is sealed with.
 */
export async function logAuditHead({
  db,
  log,
  services,
}: Pick<Context, 'db' | 'log'> & { services: Pick<Services, 'keyring'> }): Promise<void> {
  const { seq, hash } = await readHead(db);
  if (seq === 0) return;
  const key = await readChainKey(db, services.keyring);
  always(log).info({ seq, hash, keyedFrom: firstKeyedSeq(key) }, 'audit log head');
}
