/** When each node was last heard, and which state of it is stored: one narrow row per node, updated in place. */
import type { Knex } from 'knex';
import { rowsOf } from '../../database/unnest.ts';
import type { NodeReport } from './store.ts';

const presenceOf = (reports: readonly NodeReport[]) =>
  rowsOf([
    ['node_id', 'text', reports.map((report) => report.nodeId)],
    ['heard_at', 'timestamptz', reports.map((report) => report.receivedAt)],
    ['state', 'bigint', reports.map((report) => report.state)],
  ]);

/** Whether a node was heard in the future, which the clock of a controller was set back from since. One binding: now. */
const IN_FUTURE = `p.heard_at > ?::timestamptz + interval '2 minutes'`;

/**
 * Stores when the nodes were heard whose stored state is the reported one, whichever controller has stored it. Returns the ids
 * of the others, of which nothing is stored.
 */
export async function touchPresence(
  db: Knex,
  reports: readonly NodeReport[],
  now: Date,
): Promise<Set<string>> {
  const { source, values } = presenceOf(reports);
  const { rows } = await db.raw<{ rows: { node_id: string }[] }>(
    `WITH heard AS (SELECT * FROM ${source}),
     touched AS (UPDATE node_presence p
       SET heard_at = CASE WHEN ${IN_FUTURE} THEN h.heard_at ELSE greatest(p.heard_at, h.heard_at) END
       FROM heard h WHERE p.node_id = h.node_id AND p.state = h.state RETURNING p.node_id)
     SELECT node_id FROM heard WHERE node_id NOT IN (SELECT node_id FROM touched)`,
    [...values, now],
  );
  return new Set(rows.map(({ node_id }) => node_id));
}

/**
 * Stores presence and state digest of the reports that are about to be written, and locks their rows. Returns the ids of the
 * nodes that still exist and were not heard later by another controller.
 */
export async function claimPresence(
  tx: Knex,
  reports: readonly NodeReport[],
  now: Date,
): Promise<Set<string>> {
  const { source, values } = presenceOf(reports);
  const { rows } = await tx.raw<{ rows: { node_id: string }[] }>(
    // The nodes are looked up by index: a join would read all of them for every batch.
    `INSERT INTO node_presence AS p (node_id, heard_at, state)
     SELECT b.node_id, b.heard_at, b.state FROM ${source}
     WHERE EXISTS (SELECT FROM nodes n WHERE n.id = b.node_id) ORDER BY b.node_id
     ON CONFLICT (node_id) DO UPDATE SET heard_at = excluded.heard_at, state = excluded.state
       WHERE p.heard_at <= excluded.heard_at OR ${IN_FUTURE}
     RETURNING node_id`,
    [...values, now],
  );
  return new Set(rows.map(({ node_id }) => node_id));
}
