/** Answers to requests that carried an `Idempotency-Key`, kept for a day. */
import type { Knex } from 'knex';
import { newId } from '../../controller/platform/operation/ids.ts';

export interface RequestKey {
  serviceAccountId: string;
  key: string;
}
export interface Claimed extends RequestKey {
  /** Names this request among those that have come with the key. */
  claim: string;
}
export type KnownRequest =
  | { kind: 'mine'; claimed: Claimed }
  | { kind: 'busy' }
  /** The key came with another request before. */
  | { kind: 'other' }
  | { kind: 'answered'; status: number; body: string };

/** By Postgres' clock, which all replicas share. */
const KEPT = `interval '24 hours'`;
/** A claim that is older belongs to a request that died. */
const ABANDONED = `interval '2 minutes'`;

/** Of many that come at once with one key, one gets it. */
export async function claimRequest(db: Knex, of: RequestKey, requestHash: string): Promise<KnownRequest> {
  const claim = newId();
  const { rows } = await db.raw<{
    rows: { claim: string; requestHash: string; status: number | null; body: string | null }[];
  }>(
    `INSERT INTO idempotent_requests AS r (service_account_id, key, request_hash, claim)
     VALUES (:serviceAccountId, :key, :requestHash, :claim)
     ON CONFLICT (service_account_id, key) DO UPDATE SET
       request_hash = excluded.request_hash, claim = excluded.claim, status = NULL, body = NULL, created_at = now()
     WHERE r.created_at < now() - ${KEPT} OR
       (r.status IS NULL AND r.request_hash = excluded.request_hash AND r.created_at < now() - ${ABANDONED})
     RETURNING claim, request_hash AS "requestHash", status, body`,
    { ...of, requestHash, claim },
  );
  if (rows[0]) return { kind: 'mine', claimed: { ...of, claim } };
  const known = await db('idempotent_requests')
    .where({ service_account_id: of.serviceAccountId, key: of.key })
    .first({ requestHash: 'request_hash', status: 'status', body: 'body' });
  // Given up between the two statements.
  if (!known) return { kind: 'busy' };
  if (known.requestHash !== requestHash) return { kind: 'other' };
  if (known.status === null) return { kind: 'busy' };
  return { kind: 'answered', status: known.status, body: known.body ?? '' };
}

const mine = (db: Knex, { serviceAccountId, key, claim }: Claimed) =>
  db('idempotent_requests').where({ service_account_id: serviceAccountId, key, claim, status: null });

/** False where the key has gone to another request meanwhile. In a transaction, other requests with the key wait until its end. */
export async function storeResponse(
  db: Knex,
  claimed: Claimed,
  answer: { status: number; body: string },
): Promise<boolean> {
  return (await mine(db, claimed).update(answer)) > 0;
}

/** The key is free again. */
export async function giveUp(db: Knex, claimed: Claimed): Promise<void> {
  await mine(db, claimed).delete();
}

export async function deleteOldResponses(db: Knex): Promise<void> {
  await db('idempotent_requests').whereRaw(`created_at < now() - ${KEPT}`).delete();
}
