/**
 * The key of the audit chain: random, stored sealed under the keyring, and sealed anew with every rotation, so that the log
 * stays verifiable when earlier keys are gone. Sealed with it is where it begins: events before have no code (MAC), and none
 * after may lack one. So it protects numbered events from whoever only writes to the database, as long as it is there. Nothing
 * in the database shows that it was taken away, with all codes: that takes its head, or where the key began, from elsewhere
 * (`head.ts`). What has no number yet is believed.
 */
import { randomBytes } from 'node:crypto';
import type { Knex } from 'knex';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { sealingContext } from '../../../platform/crypto/sealed-columns.ts';
import { writeAudit } from '../../../platform/operation/audit-writer.ts';
import type { Services } from '../../../platform/operation/context.ts';
import { unavailable } from '../../../platform/operation/errors.ts';
import { readAnchor } from '../retention-store.ts';
import { hasKeyedHead, readHead } from '../store.ts';
import type { ChainKey, ChainLink } from './chain.ts';
import { insertSealedKey, readSealedKey } from './chain-key-store.ts';

const ID = 'chain';
const PLACE = sealingContext('audit_keys', ID);

interface Sealed {
  key: string;
  after: ChainLink;
  anchor: ChainLink;
}

/** Null where the log has never had one. @throws KeyringError where the key that it is sealed with is not here. */
export async function readChainKey(db: Knex, keyring: Pick<Keyring, 'open'>): Promise<ChainKey | null> {
  const sealed = await readSealedKey(db, ID);
  if (sealed === null) return null;
  const { key, after, anchor } = JSON.parse(keyring.open(sealed, PLACE)) as Sealed;
  return { key: Buffer.from(key, 'base64url'), after, anchor };
}

/**
 * In the leader's transaction. The first time it creates the key; an event tells of it where there were events before.
 * @throws UNAVAILABLE where the log had a key that is gone.
 */
export async function ensureChainKey(
  tx: Knex,
  { bus, keyring }: Pick<Services, 'bus' | 'keyring'>,
): Promise<ChainKey> {
  const known = await readChainKey(tx, keyring);
  if (known) return known;
  if (await hasKeyedHead(tx))
    throw unavailable(
      'The key of the audit log is gone from the table audit_keys; put it back from a backup of the database',
    );
  const { seq, hash } = await readHead(tx);
  const anchor = await readAnchor(tx);
  const key = randomBytes(32);
  const made = { key, after: { seq, hash }, anchor: { seq: anchor.seq, hash: anchor.hash } };
  const text = JSON.stringify({ ...made, key: key.toString('base64url') } satisfies Sealed);
  await insertSealedKey(tx, ID, keyring.seal(text, PLACE));
  if (seq > 0)
    await writeAudit(
      { db: tx, actor: { type: 'system', name: 'audit' }, ipAddress: null, services: { bus } },
      { teamId: null },
      [{ entityType: 'AuditLog', entityId: null, metadata: { after: seq, hash } }],
      'audit.keyed',
    );
  return made;
}
