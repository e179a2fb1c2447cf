/** Archives silent nodes, and unarchives nodes that report again. */
import type { Knex } from 'knex';

export interface ArchivedNode {
  id: string;
  name: string;
  environmentId: string;
  teamId: string;
  /** Time of the last report, or of the enrollment if the node never reported. */
  silentSince: Date;
  /** The setting of the environment. */
  afterDays: number;
}

/**
 * Archives nodes that have been silent for longer than their environment allows, at most `limit`. Skips nodes that wait for
 * their first enrollment. The result is ordered by id.
 */
export async function archiveSilent(tx: Knex, at: Date, limit: number): Promise<ArchivedNode[]> {
  const { rows } = await tx.raw<{ rows: ArchivedNode[] }>(
    `UPDATE nodes n SET archived_at = :at FROM (
       SELECT o.id, e.team_id, e.archive_nodes_after_days AS after_days,
         greatest(o.enrolled_at, o.unarchived_at, h.heard_at) AS silent_since
       FROM nodes o JOIN environments e ON e.id = o.environment_id LEFT JOIN node_presence h ON h.node_id = o.id
       WHERE o.archived_at IS NULL AND o.enrolled_at IS NOT NULL AND e.archive_nodes_after_days > 0
         AND greatest(o.enrolled_at, o.unarchived_at, h.heard_at)
           < :at::timestamptz - e.archive_nodes_after_days * interval '1 day'
       ORDER BY o.id LIMIT :limit FOR UPDATE OF o SKIP LOCKED) s
     WHERE n.id = s.id
     RETURNING n.id, n.name, n.environment_id AS "environmentId", s.team_id AS "teamId",
       s.silent_since AS "silentSince", s.after_days AS "afterDays"`,
    { at, limit },
  );
  return rows.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export interface ReturnedNode {
  name: string;
  environmentId: string;
  teamId: string;
  archivedAt: Date;
  /** Nodes of the environment, including this one. */
  nodeCount: number;
  /** Null if unlimited. */
  maxNodes: number | null;
}

/** Null if the node is deleted or no longer archived. */
export async function unarchive(tx: Knex, id: string, at: Date): Promise<ReturnedNode | null> {
  const { rows } = await tx.raw<{ rows: ReturnedNode[] }>(
    `UPDATE nodes n SET archived_at = NULL, unarchived_at = :at
     FROM (SELECT id, archived_at FROM nodes WHERE id = :id AND archived_at IS NOT NULL FOR UPDATE) o, environments e
     WHERE n.id = o.id AND e.id = n.environment_id
     RETURNING n.name, n.environment_id AS "environmentId", e.team_id AS "teamId", o.archived_at AS "archivedAt",
       e.max_nodes AS "maxNodes", 1 + (SELECT count(*) FROM nodes c
         WHERE c.environment_id = n.environment_id AND c.archived_at IS NULL) AS "nodeCount"`,
    { id, at },
  );
  return rows[0] ?? null;
}
