/**
 * Who works on the embedded repository: any number of pushes, or one maintenance. Replicas share the repository, so this is in
 * the database. A process that dies without ending its activity blocks the others until its row expires.
 */
import type { Knex } from 'knex';
import { newId } from '../../platform/operation/ids.ts';

/** Held while somebody enters. */
const ENTERING = 7_236_013;

/** Returns the id of the activity, or null while others are in the way: a maintenance for a push, anybody for a maintenance. */
export async function beginActivity(
  db: Knex,
  kind: 'push' | 'maintenance',
  forMs: number,
): Promise<string | null> {
  return db.transaction(async (tx) => {
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [ENTERING]);
    await tx('repository_activity').whereRaw('expires_at <= clock_timestamp()').delete();
    const others = tx('repository_activity');
    if (kind === 'push') others.where({ kind: 'maintenance' });
    if (await others.clone().first('id')) {
      if (kind === 'push')
        await others.whereNull('wanted_at').update({ wanted_at: tx.raw('clock_timestamp()') });
      return null;
    }
    const id = newId();
    await tx('repository_activity').insert({
      id,
      kind,
      expires_at: tx.raw("clock_timestamp() + ? * interval '1 millisecond'", [forMs]),
    });
    return id;
  });
}

export async function endActivity(db: Knex, id: string): Promise<void> {
  await db('repository_activity').where({ id }).delete();
}

/** Extends the activity from now on. False when it has expired: others may work by now. */
export async function extendActivity(db: Knex, id: string, forMs: number): Promise<boolean> {
  const count = await db('repository_activity')
    .where({ id })
    .whereRaw('expires_at > clock_timestamp()')
    .update({ expires_at: db.raw("clock_timestamp() + ? * interval '1 millisecond'", [forMs]) });
  return count > 0;
}

/** How long a push has waited for this maintenance, in milliseconds; null when none waits, or it has expired. */
export async function wantedForMs(db: Knex, id: string): Promise<number | null> {
  const { rows } = await db.raw<{ rows: { ms: number | null }[] }>(
    `SELECT extract(epoch FROM clock_timestamp() - wanted_at)::float8 * 1000 AS ms FROM repository_activity WHERE id = ?`,
    [id],
  );
  return rows[0]?.ms ?? null;
}

/**
 * Commits of the embedded repository that rows refer to: those that bindings last saw and applied, both sides of pull requests,
 * and the sources of rollouts and versions. After a force-push or a deleted branch no branch may hold them.
 */
export async function listNamedCommits(db: Knex): Promise<string[]> {
  const { rows } = await db.raw<{ rows: { sha: string }[] }>(
    `WITH bound AS (SELECT * FROM git_bindings WHERE repository_url = 'embedded')
     SELECT DISTINCT sha FROM (
       SELECT head_commit->>'sha' AS sha FROM bound
       UNION ALL SELECT applied_commit->>'sha' FROM bound
       UNION ALL SELECT rewritten_commit FROM bound
       UNION ALL SELECT m.applied_commit FROM git_manifests m JOIN bound b ON b.id = m.binding_id
       UNION ALL SELECT m.seen_commit FROM git_manifests m JOIN bound b ON b.id = m.binding_id
       UNION ALL SELECT unnest(ARRAY[head_sha, base_sha, pushed_sha, merge_sha]) FROM pull_requests WHERE repository = 'embedded'
       UNION ALL SELECT r.commit_sha FROM rollouts r JOIN bound b ON b.environment_id = r.environment_id
       UNION ALL SELECT v.commit_sha FROM pipeline_versions v JOIN pipelines p ON p.id = v.pipeline_id
         JOIN bound b ON b.environment_id = p.environment_id
     ) named WHERE sha ~ '^[0-9a-f]{40}$'`,
  );
  return rows.map(({ sha }) => sha);
}
