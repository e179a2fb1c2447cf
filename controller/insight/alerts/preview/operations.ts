import {
  DEFAULT_DURATION_SECONDS,
  PreviewRule,
  RulePreview,
} from '../../../../schemas/api/insight/alerts.ts';
import { environmentScope } from '../../../identity/access/index.ts';
import { notFound } from '../../../platform/operation/errors.ts';
import { query } from '../../../platform/operation/operation.ts';
import { hasPipeline } from '../rules/store.ts';
import { previewRule as preview } from './preview-rule.ts';

export const previewRule = query({
  name: 'alert.previewRule',
  summary: 'What a rule would have done in the last days',
  role: 'VIEWER',
  permission: 'alerts.read',
  weight: 'heavy',
  input: PreviewRule,
  output: RulePreview,
  scope: (ctx, input) => environmentScope(ctx, input.environmentId),
  async run(ctx, { environmentId, days, ...rule }) {
    if (rule.pipelineId !== undefined && !(await hasPipeline(ctx.db, environmentId, rule.pipelineId)))
      throw notFound('Pipeline');
    const durationSeconds = rule.durationSeconds ?? DEFAULT_DURATION_SECONDS;
    return preview(ctx, environmentId, { ...rule, durationSeconds }, days);
  },
});
