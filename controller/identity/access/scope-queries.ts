/**
 * Resolves the team and environment of an object, and checks the caller's access. A team or environment of the input that the
 * caller may not access is FORBIDDEN; any other object of another team is NOT_FOUND, as if it did not exist. A service account
 * has access to its own environment only.
 */
import type { Context } from '../../platform/operation/context.ts';
import { forbidden, notFound } from '../../platform/operation/errors.ts';
import type { Scope } from '../../platform/operation/operation.ts';

export function mayEnter({ actor }: Context, scope: { teamId: string; environmentId?: string }): boolean {
  switch (actor.type) {
    case 'anonymous':
    case 'scim':
      return false;
    case 'system':
    case 'git':
      return true;
    case 'service_account':
      return actor.environmentId === scope.environmentId;
    case 'user':
      return actor.isSuperAdmin || actor.roles.has(scope.teamId);
  }
}

function throwForbidden(ctx: Context, what: string): never {
  throw forbidden(
    ctx.actor.type === 'service_account'
      ? 'This key is valid only for another environment'
      : `You are not a member of ${what}`,
  );
}

export async function teamScope(ctx: Context, teamId: string): Promise<Scope> {
  const team = await ctx.db('teams').where({ id: teamId }).first('id');
  if (!team) throw notFound('Team');
  if (!mayEnter(ctx, { teamId })) throwForbidden(ctx, 'this team');
  return { teamId };
}

/** The scope of an `environmentId` in the input. */
export async function environmentScope(ctx: Context, environmentId: string): Promise<Scope> {
  const row: { team_id: string } | undefined = await ctx
    .db('environments')
    .where({ id: environmentId })
    .first('team_id');
  if (!row) throw notFound('Environment');
  const scope = { teamId: row.team_id, environmentId };
  if (!mayEnter(ctx, scope)) throwForbidden(ctx, "this environment's team");
  return scope;
}

const OBJECTS = {
  Environment: `SELECT team_id, id AS environment_id FROM environments WHERE id = ?`,
  Pipeline: `SELECT e.team_id, o.environment_id FROM pipelines o JOIN environments e ON e.id = o.environment_id
    WHERE o.id = ? AND o.tombstoned_at IS NULL`,
  'Deleted pipeline': `SELECT e.team_id, o.environment_id FROM pipelines o JOIN environments e ON e.id = o.environment_id
    WHERE o.id = ? AND o.tombstoned_at IS NOT NULL AND o.managed_by = 'ui'`,
  Version: `SELECT e.team_id, p.environment_id FROM pipeline_versions o JOIN pipelines p ON p.id = o.pipeline_id
    JOIN environments e ON e.id = p.environment_id WHERE o.id = ? AND p.tombstoned_at IS NULL`,
  Node: `SELECT e.team_id, o.environment_id FROM nodes o JOIN environments e ON e.id = o.environment_id WHERE o.id = ?`,
  'Node group': `SELECT e.team_id, o.environment_id FROM node_groups o JOIN environments e ON e.id = o.environment_id
    WHERE o.id = ? AND o.tombstoned_at IS NULL`,
  'Alert rule': `SELECT e.team_id, o.environment_id FROM alert_rules o JOIN environments e ON e.id = o.environment_id
    WHERE o.id = ? AND o.tombstoned_at IS NULL`,
  'Alert event': `SELECT e.team_id, o.environment_id FROM alert_events o JOIN environments e ON e.id = o.environment_id WHERE o.id = ?`,
  Silence: `SELECT e.team_id, o.environment_id FROM alert_silences o JOIN environments e ON e.id = o.environment_id
    WHERE o.id = ? AND o.tombstoned_at IS NULL`,
  'Pipeline group': `SELECT e.team_id, o.environment_id FROM pipeline_groups o
    JOIN environments e ON e.id = o.environment_id WHERE o.id = ?`,
  'Pipeline dependency': `SELECT e.team_id, p.environment_id FROM pipeline_dependencies o
    JOIN pipelines p ON p.id = o.downstream_id JOIN environments e ON e.id = p.environment_id
    WHERE o.id = ? AND p.tombstoned_at IS NULL`,
  'Sample request': `SELECT e.team_id, o.environment_id FROM sample_requests o JOIN pipelines p ON p.id = o.pipeline_id
    JOIN environments e ON e.id = o.environment_id WHERE o.id = ? AND p.tombstoned_at IS NULL`,
  Rollout: `SELECT e.team_id, o.environment_id FROM rollouts o JOIN pipelines p ON p.id = o.pipeline_id
    JOIN environments e ON e.id = o.environment_id WHERE o.id = ? AND p.tombstoned_at IS NULL`,
  Tap: `SELECT e.team_id, o.environment_id FROM taps o JOIN environments e ON e.id = o.environment_id WHERE o.id = ?`,
  Template: `SELECT team_id, NULL AS environment_id FROM templates WHERE id = ?`,
  Snippet: `SELECT team_id, NULL AS environment_id FROM vrl_snippets WHERE id = ?`,
  'Git job': `SELECT e.team_id, b.environment_id FROM git_jobs o JOIN git_bindings b ON b.id = o.binding_id
    JOIN environments e ON e.id = b.environment_id WHERE o.id = ?`,
  'Alert webhook': `SELECT e.team_id, o.environment_id FROM webhook_endpoints o
    JOIN environments e ON e.id = o.environment_id WHERE o.id = ? AND o.tombstoned_at IS NULL`,
  Delivery: `SELECT coalesce(w.team_id, e.team_id) AS team_id, w.environment_id FROM notification_deliveries o
    JOIN webhook_endpoints w ON w.id = o.endpoint_id LEFT JOIN environments e ON e.id = w.environment_id
    WHERE o.id = ?`,
  'Service account': `SELECT e.team_id, o.environment_id FROM service_accounts o
    JOIN environments e ON e.id = o.environment_id WHERE o.id = ?`,
} as const;

/** The scope of an object of an environment or a team, by its id. */
export async function objectScope(ctx: Context, what: keyof typeof OBJECTS, id: string): Promise<Scope> {
  const { rows } = await ctx.db.raw<{ rows: { team_id: string; environment_id: string | null }[] }>(
    OBJECTS[what],
    [id],
  );
  const row = rows[0];
  const scope = row && {
    teamId: row.team_id,
    ...(row.environment_id === null ? {} : { environmentId: row.environment_id }),
  };
  if (!scope || !mayEnter(ctx, scope)) throw notFound(what);
  return scope;
}
