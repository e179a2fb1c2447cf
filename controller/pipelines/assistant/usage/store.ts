/** Requests to providers, and the tokens that they took. */
import type { Knex } from 'knex';

export interface NewRequest {
  id: string;
  teamId: string;
  userId: string | null;
  purpose: string;
  at: Date;
  reservedTokens: number;
}

export async function insertRequest(tx: Knex, request: NewRequest): Promise<void> {
  await tx('ai_requests').insert({
    ...{ id: request.id, team_id: request.teamId, user_id: request.userId, purpose: request.purpose },
    ...{ started_at: request.at, reserved_tokens: request.reservedTokens },
  });
}

export async function finishRequest(
  db: Knex,
  id: string,
  { inputTokens, outputTokens, at }: { inputTokens: number; outputTokens: number; at: Date },
): Promise<void> {
  await db('ai_requests')
    .where({ id })
    .update({ finished_at: at, input_tokens: inputTokens, output_tokens: outputTokens });
}

export interface TokensUsed {
  day: number;
  month: number;
}

/** What is under way counts with what is reserved for it. */
export async function sumTokens(
  db: Knex,
  teamId: string,
  { day, month }: { day: Date; month: Date },
): Promise<TokensUsed> {
  const { rows } = await db.raw<{ rows: { day: string; month: string }[] }>(
    `SELECT coalesce(sum(t.tokens) FILTER (WHERE started_at >= :day), 0) AS day, coalesce(sum(t.tokens), 0) AS month
     FROM ai_requests CROSS JOIN LATERAL (SELECT CASE WHEN finished_at IS NULL THEN reserved_tokens::bigint
       ELSE input_tokens::bigint + output_tokens END AS tokens) t
     WHERE team_id = :teamId AND started_at >= :month`,
    { teamId, day, month },
  );
  return { day: Number(rows[0]?.day ?? 0), month: Number(rows[0]?.month ?? 0) };
}

/** Of the newest `limit` requests of a user since then: their number, and when the oldest began. */
export async function countRequests(
  db: Knex,
  { teamId, userId, since, limit }: { teamId: string; userId: string | null; since: Date; limit: number },
): Promise<{ count: number; oldest: Date | null }> {
  const newest = db('ai_requests')
    .where({ team_id: teamId, user_id: userId })
    .where('started_at', '>', since)
    .orderBy('started_at', 'desc')
    .limit(limit)
    .select('started_at')
    .as('newest');
  const row = await db.from(newest).first(db.raw('count(*) AS count, min(started_at) AS oldest'));
  const { count = 0, oldest = null } = (row ?? {}) as { count?: unknown; oldest?: Date | null };
  return { count: Number(count), oldest };
}

export interface UsageEntry {
  day: string;
  userId: string | null;
  userName: string | null;
  requests: number;
  inputTokens: number;
  outputTokens: number;
}

/** The most rows of an answer: 31 days of 100 users. */
const MOST_ENTRIES = 3_100;

export async function listUsage(db: Knex, teamId: string, since: Date): Promise<UsageEntry[]> {
  const { rows } = await db.raw<{ rows: Record<keyof UsageEntry, string | null>[] }>(
    `SELECT to_char(r.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, r.user_id AS "userId",
       max(coalesce(nullif(u.name, ''), u.email)) AS "userName", count(*) AS requests,
       sum(r.input_tokens) AS "inputTokens", sum(r.output_tokens) AS "outputTokens"
     FROM ai_requests r LEFT JOIN users u ON u.id = r.user_id
     WHERE r.team_id = ? AND r.started_at >= ? GROUP BY 1, 2 ORDER BY 1 DESC, 5 DESC, 2 LIMIT ?`,
    [teamId, since, MOST_ENTRIES],
  );
  return rows.map((row) => ({
    ...{ day: row.day ?? '', userId: row.userId, userName: row.userName, requests: Number(row.requests) },
    ...{ inputTokens: Number(row.inputTokens), outputTokens: Number(row.outputTokens) },
  }));
}

export async function deleteRequestsBefore(tx: Knex, before: Date, limit: number): Promise<number> {
  const { rowCount } = await tx.raw<{ rowCount: number }>(
    'DELETE FROM ai_requests WHERE id IN (SELECT id FROM ai_requests WHERE started_at < ? LIMIT ?)',
    [before, limit],
  );
  return rowCount;
}
