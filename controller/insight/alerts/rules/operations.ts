import { Deleted } from '../../../../schemas/api/common.ts';
import { OrGit } from '../../../../schemas/api/delivery/git-words.ts';
import {
  AlertRule,
  AlertRuleId,
  AlertRuleList,
  CreateAlertRule,
  DEFAULT_DURATION_SECONDS,
  ListAlertRules,
  UpdateAlertRule,
} from '../../../../schemas/api/insight/alerts.ts';
import { lockEditable } from '../../../delivery/ownership/index.ts';
import { lockEnvironment } from '../../../fleet/environments/index.ts';
import { environmentScope, objectScope, teamScope } from '../../../identity/access/index.ts';
import { diffOf } from '../../../platform/operation/audit-entry.ts';
import type { Context, MutationContext } from '../../../platform/operation/context.ts';
import { badRequest, notFound, preconditionFailed } from '../../../platform/operation/errors.ts';
import { mutation, query } from '../../../platform/operation/operation.ts';
import { publishChange } from './publish-change.ts';
import {
  countRules,
  findRule,
  insertRule,
  lockPipeline,
  listRules as readRules,
  deleteRule as removeRule,
  updateRule as writeRule,
} from './store.ts';

/** Per environment, rules of git included. The list is not paged. */
const MAX_RULES = 1_000;

async function getExisting(ctx: Context, id: string): Promise<AlertRule> {
  const rule = await findRule(ctx.db, id);
  if (!rule) throw notFound('Alert rule');
  return rule;
}

/** Wakes git when a name becomes free: a manifest may wait for it. */
async function wakeGit(ctx: MutationContext, environmentId: string, trigger: string): Promise<void> {
  await ctx.services.bus.publish(ctx.db, { type: 'wake', loop: 'git', key: environmentId, trigger });
}

export const listRules = query({
  name: 'alert.listRules',
  summary: 'Alert rules of an environment',
  role: 'VIEWER',
  permission: 'alerts.read',
  input: ListAlertRules,
  output: AlertRuleList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: (ctx, input) => readRules(ctx.db, input.environmentId),
});

export const getRule = query({
  name: 'alert.getRule',
  summary: 'One alert rule',
  role: 'VIEWER',
  permission: 'alerts.read',
  input: AlertRuleId,
  output: AlertRule,
  scope: (ctx, input) => objectScope(ctx, 'Alert rule', input.id),
  run: (ctx, { id }) => getExisting(ctx, id),
});

export const createRule = mutation({
  name: 'alert.createRule',
  summary: 'Create an alert rule',
  role: 'EDITOR',
  permission: 'alerts.manage',
  audit: 'alertRule.created',
  input: CreateAlertRule,
  output: AlertRule,
  async scope(ctx, input) {
    const scope = await environmentScope(ctx, input.environmentId);
    // Access to the environment includes access to its team.
    if (input.teamId !== scope.teamId) await teamScope(ctx, input.teamId);
    return scope;
  },
  async run(ctx, input) {
    const { environmentId, pipelineId = null } = input;
    const { teamId } = await environmentScope(ctx, environmentId);
    if (input.teamId !== teamId)
      throw badRequest(
        'teamId is not the team of the environment; give the team that the environment belongs to',
      );
    const name = input.name.trim();
    // Lock the pipeline before its environment, in the same order as a deploy.
    if (pipelineId !== null && !(await lockPipeline(ctx.db, environmentId, pipelineId)))
      throw notFound('Pipeline');
    await lockEnvironment(ctx.db, environmentId);
    if ((await countRules(ctx.db, environmentId)) >= MAX_RULES)
      throw preconditionFailed(`This environment has ${MAX_RULES} alert rules; delete some first`);
    const id = await insertRule(ctx.db, environmentId, {
      name,
      pipelineId,
      metric: input.metric,
      condition: input.condition,
      threshold: input.threshold,
      durationSeconds: input.durationSeconds ?? DEFAULT_DURATION_SECONDS,
      enabled: true,
    });
    ctx.audit({ entityType: 'AlertRule', entityId: id, metadata: { name, metric: input.metric } });
    await publishChange(ctx, environmentId);
    return getExisting(ctx, id);
  },
});

export const updateRule = mutation({
  name: 'alert.updateRule',
  summary: 'Change an alert rule that the UI owns',
  role: 'EDITOR',
  permission: 'alerts.edit',
  audit: 'alertRule.updated',
  input: UpdateAlertRule,
  output: OrGit(AlertRule),
  scope: (ctx, input) => objectScope(ctx, 'Alert rule', input.id),
  async run(ctx, { id, ...change }) {
    const { environmentId } = await lockEditable(ctx, 'alert_rules', id);
    const before = await getExisting(ctx, id);
    const after = {
      name: change.name?.trim() ?? before.name,
      enabled: change.enabled ?? before.enabled,
      threshold: change.threshold ?? before.threshold,
      durationSeconds: change.durationSeconds ?? before.durationSeconds,
    };
    await writeRule(ctx.db, id, after);
    ctx.audit({
      entityType: 'AlertRule',
      entityId: id,
      diff: diffOf(before, after),
      metadata: { name: after.name },
    });
    if (before.name !== after.name) await wakeGit(ctx, environmentId, 'alert rule renamed');
    await publishChange(ctx, environmentId);
    return getExisting(ctx, id);
  },
});

export const deleteRule = mutation({
  name: 'alert.deleteRule',
  summary: 'Delete an alert rule that the UI owns, for good',
  role: 'EDITOR',
  permission: 'alerts.edit',
  audit: 'alertRule.deleted',
  input: AlertRuleId,
  output: OrGit(Deleted),
  scope: (ctx, input) => objectScope(ctx, 'Alert rule', input.id),
  async run(ctx, { id }) {
    const { environmentId, name } = await lockEditable(ctx, 'alert_rules', id);
    await removeRule(ctx.db, id);
    ctx.audit({ entityType: 'AlertRule', entityId: id, metadata: { name } });
    await wakeGit(ctx, environmentId, 'alert rule deleted');
    await publishChange(ctx, environmentId);
    return { deleted: true as const };
  },
});
