import type { Knex } from 'knex';
import type { GraphEdge, GraphNode } from '../../../schemas/api/pipelines/graph.ts';
import type { Template, TemplateSummary } from '../../../schemas/api/pipelines/templates.ts';
import { brokeUnique } from '../../database/errors.ts';
import { conflict } from '../../platform/operation/errors.ts';
import { newId } from '../../platform/operation/ids.ts';

const SUMMARY = `t.id, t.team_id AS "teamId", t.name, t.description, t.category, t.component_count AS "componentCount",
  t.component_types AS "componentTypes", u.name AS "createdByName", t.created_at AS "createdAt"`;
const FROM = 'FROM templates t LEFT JOIN users u ON u.id = t.created_by_id';

export async function listTemplates(db: Knex, teamId: string): Promise<TemplateSummary[]> {
  const { rows } = await db.raw<{ rows: TemplateSummary[] }>(
    `SELECT ${SUMMARY} ${FROM} WHERE t.team_id = ? ORDER BY lower(t.category), lower(t.name)`,
    [teamId],
  );
  return rows;
}

export async function findTemplate(db: Knex, id: string): Promise<Template | null> {
  const { rows } = await db.raw<{ rows: Template[] }>(
    `SELECT ${SUMMARY}, t.graph_nodes AS nodes, t.graph_edges AS edges ${FROM} WHERE t.id = ?`,
    [id],
  );
  return rows[0] ?? null;
}

export async function countTemplates(db: Knex, teamId: string): Promise<number> {
  const row = await db('templates').where({ team_id: teamId }).count({ count: '*' }).first();
  return Number(row?.count ?? 0);
}

export async function insertTemplate(
  tx: Knex,
  template: {
    teamId: string;
    name: string;
    description: string;
    category: string;
    nodes: readonly GraphNode[];
    edges: readonly GraphEdge[];
    createdById: string | null;
  },
): Promise<string> {
  const id = newId();
  const types = [...new Set(template.nodes.map(({ componentType }) => componentType))].sort();
  await tx('templates')
    .insert({
      id,
      team_id: template.teamId,
      name: template.name,
      description: template.description,
      category: template.category,
      graph_nodes: JSON.stringify(template.nodes),
      graph_edges: JSON.stringify(template.edges),
      component_count: template.nodes.length,
      component_types: JSON.stringify(types),
      created_by_id: template.createdById,
    })
    .catch((error: unknown) => {
      throw brokeUnique(error, 'templates_name_unique')
        ? conflict(`A template named "${template.name}" exists already in this team; choose another name`)
        : error;
    });
  return id;
}

/** Returns its name; null if there is none. */
export async function deleteTemplate(tx: Knex, id: string): Promise<string | null> {
  const [row]: { name: string }[] = await tx('templates').where({ id }).delete().returning('name');
  return row?.name ?? null;
}
