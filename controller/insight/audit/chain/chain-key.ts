/**
 * The key of the audit chain. It is random, sealed by the keyring and resealed with every rotation, so the log stays
 * verifiable after old keyring keys are gone. Its starting point is sealed with it: events before it have no code (MAC), and
 * every later event must have one. This protects numbered events from an attacker who can only write to the database.
 * If the attacker removes the key and all codes, the database does not show it; compare with a logged head (`log-head.ts`).
 * Events without a number are not protected.
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
const CONTEXT = sealingContext('audit_keys', ID);

interface Sealed {
  key: string;
  after: ChainLink;
  anchor: ChainLink;
}

/** Null where the log has never had a key. @throws KeyringError where the keyring lacks the key that it is sealed with. */
export async function readChainKey(db: Knex, keyring: Pick<Keyring, 'open'>): Promise<ChainKey | null> {
  const sealed = await readSealedKey(db, ID);
  if (sealed === null) return null;
  const { key, after, anchor } = JSON.parse(keyring.open(sealed, CONTEXT)) as Sealed;
  return { key: Buffer.from(key, 'base64url'), after, anchor };
}

/**
 * Runs in the leader's transaction and creates the key the first time. If the log has events already, it records the new key
 * in an event. @throws UNAVAILABLE where the log had a key that is gone.
 */
export async function ensureChainKey(
  tx: Knex,
  { bus, keyring }: Pick<Services, 'bus' | 'keyring'>,
): Promise<ChainKey> {
  const existing = await readChainKey(tx, keyring);
  if (existing) return existing;
  if (await hasKeyedHead(tx))
    throw unavailable(
      'The key of the audit log is gone from the table audit_keys; put it back from a backup of the database',
    );
  const { seq, hash } = await readHead(tx);
  const anchor = await readAnchor(tx);
  const key = randomBytes(32);
  const created = { key, after: { seq, hash }, anchor: { seq: anchor.seq, hash: anchor.hash } };
  const text = JSON.stringify({ ...created, key: key.toString('base64url') } satisfies Sealed);
  await insertSealedKey(tx, ID, keyring.seal(text, CONTEXT));
  if (seq > 0)
    await writeAudit(
      { db: tx, actor: { type: 'system', name: 'audit' }, ipAddress: null, services: { bus } },
      { teamId: null },
      [{ entityType: 'AuditLog', entityId: null, metadata: { after: seq, hash } }],
      'audit.keyed',
    );
  return created;
}
