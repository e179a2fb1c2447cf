import { AlertRuleList, ListAlertRules } from '../../schemas/api/alerts.ts';
import { environmentScope } from '../access/index.ts';
import { query } from '../platform/operation.ts';
import { datedOrigin } from '../status/index.ts';
import { listRules as readRules } from './store.ts';

export const listRules = query({
  name: 'alert.listRules',
  summary: 'Alert rules of an environment',
  role: 'VIEWER',
  permission: 'alerts.read',
  input: ListAlertRules,
  output: AlertRuleList,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  run: async (ctx, input) =>
    (await readRules(ctx.db, input.environmentId)).map((rule) => ({ ...rule, git: datedOrigin(rule.git) })),
});
