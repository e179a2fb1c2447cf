import type { Knex } from 'knex';
import type { Snippet } from '../../../schemas/api/pipelines/snippets.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

const SELECT = `SELECT s.id, s.team_id AS "teamId", s.name, s.description, s.category, s.code,
    u.name AS "createdByName", s.created_at AS "createdAt", s.updated_at AS "updatedAt"
  FROM vrl_snippets s LEFT JOIN users u ON u.id = s.created_by_id`;

export async function listSnippets(db: Knex, teamId: string): Promise<Snippet[]> {
  const { rows } = await db.raw<{ rows: Snippet[] }>(
    `${SELECT} WHERE s.team_id = ? ORDER BY lower(s.category), lower(s.name)`,
    [teamId],
  );
  return rows;
}

/** Locks the snippet until the transaction ends. */
export async function lockSnippet(tx: Knex, id: string): Promise<Snippet | null> {
  const { rows } = await tx.raw<{ rows: Snippet[] }>(`${SELECT} WHERE s.id = ? FOR UPDATE OF s`, [id]);
  return rows[0] ?? null;
}

export async function countSnippets(db: Knex, teamId: string): Promise<number> {
  const row = await db('vrl_snippets').where({ team_id: teamId }).count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

export interface SnippetContent {
  name: string;
  description: string | null;
  category: string;
  code: string;
}

export async function insertSnippet(
  tx: Knex,
  teamId: string,
  content: SnippetContent,
  createdById: string | null,
): Promise<string> {
  const id = newId();
  await tx('vrl_snippets')
    .insert({ id, team_id: teamId, ...content, created_by_id: createdById })
    .catch((error: unknown) => {
      throw explainConflict(error, content.name);
    });
  return id;
}

export async function updateSnippet(tx: Knex, id: string, content: SnippetContent): Promise<void> {
  await tx('vrl_snippets')
    .where({ id })
    .update({ ...content, updated_at: tx.fn.now() })
    .catch((error: unknown) => {
      throw explainConflict(error, content.name);
    });
}

export async function deleteSnippet(tx: Knex, id: string): Promise<void> {
  await tx('vrl_snippets').where({ id }).delete();
}

function explainConflict(error: unknown, name: string): unknown {
  return brokeUnique(error, 'vrl_snippets_name_unique')
    ? conflict(`A snippet named "${name}" exists already in this team; choose another name`)
    : error;
}
