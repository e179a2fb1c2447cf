import type { Knex } from 'knex';
import type { AuditEvent } from '../../../../schemas/api/audit.ts';
import type { Keyring } from '../../../platform/crypto/keyring.ts';
import { isPruneRecorded, readAnchor } from '../retention-store.ts';
import { anyUnnumbered, readChain, readHead } from '../store.ts';
import { type ChainKey, type ChainLink, follows, isBeginning, keyedFromOf } from './chain.ts';
import { readChainKey } from './chain-key.ts';

const PIECE = 1_000;

export interface AuditVerdict {
  /** The number of the last event. */
  events: number;
  /** The number of the first event that is kept: those before it were deleted as the retention says. */
  from: number;
  /** The number of the first event whose hash takes the key; null where the log has no key yet. */
  keyedFrom: number | null;
  /** Events that wait for their number: they are not looked at. */
  unnumbered: boolean;
  /** The first number that does not hold, and what stands under it: null where the row is gone. */
  broken: { seq: number; event: AuditEvent | null } | null;
}

/**
 * Reads the whole audit log, as one state of the database: the log may grow, and be shortened, while it is read. Events that
 * have no number yet are not looked at. Those that are older than the retention are gone: the first that is kept follows the
 * last of them, whose hash is kept, and told by an event of the log itself. `witness` is an event as somebody else noted it.
 * @throws KeyringError where the key of the log is sealed with one that is not here.
 */
export function auditVerdict(
  db: Knex,
  keyring: Pick<Keyring, 'open'>,
  witness: ChainLink | null = null,
): Promise<AuditVerdict> {
  return db.transaction(
    async (tx) => {
      const key = await readChainKey(tx, keyring);
      const { seq: events } = await readHead(tx);
      const from = (await readAnchor(tx)).seq + 1;
      const unnumbered = await anyUnnumbered(tx);
      const keyedFrom = keyedFromOf(key);
      const seq = await firstBroken(tx, key, witness);
      if (seq === null) return { events, from, keyedFrom, unnumbered, broken: null };
      const [found] = await readChain(tx, seq - 1, 1);
      const event = found?.event.seq === seq ? found.event : null;
      return { events, from, keyedFrom, unnumbered, broken: { seq, event } };
    },
    { isolationLevel: 'repeatable read', readOnly: true },
  );
}

/** Null where every event is as it was numbered, else the first number whose event was changed, removed or slipped in. */
export async function verifyAuditChain(db: Knex, keyring: Pick<Keyring, 'open'>): Promise<number | null> {
  return (await auditVerdict(db, keyring)).broken?.seq ?? null;
}

async function firstBroken(
  db: Knex,
  key: ChainKey | null,
  witness: ChainLink | null,
): Promise<number | null> {
  const head = await readHead(db);
  const anchor = await readAnchor(db);
  if (!isBeginning(key, anchor)) return anchor.seq;
  if (anchor.seq > 0 && !(await isPruneRecorded(db, anchor))) return anchor.seq;
  const noted = [head, ...(witness ? [witness] : [])];
  const differs = (link: ChainLink) => noted.some(({ seq, hash }) => seq === link.seq && hash !== link.hash);
  let before: ChainLink = anchor;
  if (differs(before)) return before.seq;
  for (;;) {
    const rows = await readChain(db, before.seq, PIECE);
    if (rows.length === 0) break;
    for (const row of rows) {
      if (!follows(key, before, row)) return before.seq + 1;
      if (differs(row.event)) return row.event.seq;
      before = row.event;
    }
  }
  const last = Math.max(...noted.map(({ seq }) => seq));
  return before.seq < last ? before.seq + 1 : null;
}
