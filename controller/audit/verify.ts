import type { Knex } from 'knex';
import { type ChainLink, follows, GENESIS } from './chain.ts';
import { readChain, readHead } from './store.ts';

const PIECE = 1_000;

/**
 * Reads the whole audit log: null where every event is as it was numbered, else the first number whose event was changed,
 * removed or slipped in. Events that have no number yet are not looked at.
 */
export async function verifyAuditChain(db: Knex): Promise<number | null> {
  // First, since the log may grow while it is read.
  const head = await readHead(db);
  let before: ChainLink = GENESIS;
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
