import type { Knex } from 'knex';
import type { AuditEvent } from '../../schemas/api/audit.ts';
import { type ChainLink, follows } from './chain.ts';
import { isToldOf, readAnchor } from './retention-store.ts';
import { anyUnnumbered, readChain, readHead } from './store.ts';

const PIECE = 1_000;

/**
 * Reads the whole audit log: null where every event is as it was numbered, else the first number whose event was changed,
 * removed or slipped in. Events that have no number yet are not looked at. Those that are older than the retention are gone:
 * the first that is kept follows the last of them, whose hash is kept, and told by an event of the log itself.
 */
export async function verifyAuditChain(db: Knex): Promise<number | null> {
  // One state of the database: the log may grow, and be shortened, while it is read.
  return db.transaction((tx) => verifyOneState(tx), { isolationLevel: 'repeatable read', readOnly: true });
}

async function verifyOneState(db: Knex): Promise<number | null> {
  const head = await readHead(db);
  const anchor = await readAnchor(db);
  if (anchor.seq > 0 && !(await isToldOf(db, anchor))) return anchor.seq;
  let before: ChainLink = anchor;
  for (;;) {
    const events = await readChain(db, before.seq, PIECE);
    if (events.length === 0) break;
    for (const event of events) {
      if (!follows(before, event)) return before.seq + 1;
      if (event.seq === head.seq && event.hash !== head.hash) return event.seq;
      before = event;
    }
  }
  return before.seq < head.seq ? before.seq + 1 : null;
}

export interface AuditVerdict {
  /** The number of the last event. */
  events: number;
  /** The number of the first event that is kept: those before it were deleted as the retention says. */
  from: number;
  /** Events that wait for their number: they are not looked at. */
  unnumbered: boolean;
  /** The first number that does not hold, and what stands under it: null where the row is gone. */
  broken: { seq: number; event: AuditEvent | null } | null;
}

export async function auditVerdict(db: Knex): Promise<AuditVerdict> {
  const { seq: events } = await readHead(db);
  const from = (await readAnchor(db)).seq + 1;
  const unnumbered = await anyUnnumbered(db);
  const seq = await verifyAuditChain(db);
  if (seq === null) return { events, from, unnumbered, broken: null };
  const [found] = await readChain(db, seq - 1, 1);
  return { events, from, unnumbered, broken: { seq, event: found?.seq === seq ? found : null } };
}
