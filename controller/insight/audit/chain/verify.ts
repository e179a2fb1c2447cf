import type { Knex } from 'knex';
import type { AuditEvent } from '../../../../schemas/api/insight/audit.ts';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { isPruneRecorded, readAnchor } from '../retention-store.ts';
import { anyUnnumbered, readChain, readHead } from '../store.ts';
import { type ChainKey, type ChainLink, firstKeyedSeq, follows, isBeginning } from './chain.ts';
import { readChainKey } from './chain-key.ts';

const BATCH = 1_000;

export interface AuditVerification {
  /** The number of the last event. */
  events: number;
  /** The number of the first event in the log: the retention has deleted earlier ones. */
  from: number;
  /** The number of the first event with a MAC; null where the log has no key yet. */
  keyedFrom: number | null;
  /** Whether events wait for their number; they are not verified. */
  unnumbered: boolean;
  /** The first number that fails, with its event; the event is null where the row is gone. */
  broken: { seq: number; event: AuditEvent | null } | null;
}

/**
 * Verifies the whole audit log in one snapshot of the database, because the log may grow and be pruned meanwhile. Events without
 * a number are not verified. Events beyond the retention are gone: the first remaining event must follow the last deleted one,
 * whose hash is stored and also recorded by an event of the log. `witness` is a link that was noted outside the database.
 * @throws KeyringError where the keyring lacks the key that the log's key is sealed with.
 */
export function verifyAuditLog(
  db: Knex,
  keyring: Pick<Keyring, 'open'>,
  witness: ChainLink | null = null,
): Promise<AuditVerification> {
  return db.transaction(
    async (tx) => {
      const key = await readChainKey(tx, keyring);
      const { seq: events } = await readHead(tx);
      const from = (await readAnchor(tx)).seq + 1;
      const unnumbered = await anyUnnumbered(tx);
      const keyedFrom = firstKeyedSeq(key);
      const seq = await findFirstBroken(tx, key, witness);
      if (seq === null) return { events, from, keyedFrom, unnumbered, broken: null };
      const [found] = await readChain(tx, seq - 1, 1);
      const event = found?.event.seq === seq ? found.event : null;
      return { events, from, keyedFrom, unnumbered, broken: { seq, event } };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** The first number whose event was changed, removed or inserted; null where the log is intact. */
export async function verifyAuditChain(db: Knex, keyring: Pick<Keyring, 'open'>): Promise<number | null> {
  return (await verifyAuditLog(db, keyring)).broken?.seq ?? null;
}

async function findFirstBroken(
  db: Knex,
  key: ChainKey | null,
  witness: ChainLink | null,
): Promise<number | null> {
  const head = await readHead(db);
  const anchor = await readAnchor(db);
  if (!isBeginning(key, anchor)) return anchor.seq;
  if (anchor.seq > 0 && !(await isPruneRecorded(db, anchor))) return anchor.seq;
  const expected = [head, ...(witness ? [witness] : [])];
  const differs = (link: ChainLink) =>
    expected.some(({ seq, hash }) => seq === link.seq && hash !== link.hash);
  let before: ChainLink = anchor;
  if (differs(before)) return before.seq;
  for (;;) {
    const rows = await readChain(db, before.seq, BATCH);
    if (rows.length === 0) break;
    for (const row of rows) {
      if (!follows(key, before, row)) return before.seq + 1;
      if (differs(row.event)) return row.event.seq;
      before = row.event;
    }
  }
  const last = Math.max(...expected.map(({ seq }) => seq));
  return before.seq < last ? before.seq + 1 : null;
}
