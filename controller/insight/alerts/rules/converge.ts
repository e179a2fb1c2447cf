/** The operations by which git creates, updates and prunes alert rules. */
import type { AlertRuleSpec } from '../../../../schemas/manifests/alert-rule.ts';
import { nameKeyOf } from '../../../../schemas/manifests/index.ts';
import { convergeOperation, pruneOperation } from '../../../delivery/ownership/index.ts';
import { preconditionFailed } from '../../../platform/operation/errors.ts';
import { publishChange } from './publish-change.ts';
import { pipelineIdsByName, RULE_COLUMNS, ruleColumns } from './store.ts';

const RULES = { entityType: 'AlertRule', table: 'alert_rules' } as const;

export const convergeAlertRules = convergeOperation<AlertRuleSpec>({
  ...RULES,
  name: 'alert.converge',
  noun: 'alertRule',
  types: RULE_COLUMNS,
  async columns(ctx, environmentId, specs) {
    const pipelineNames = specs.flatMap(({ pipelineRef }) => pipelineRef ?? []);
    const ids = await pipelineIdsByName(ctx.db, environmentId, pipelineNames);
    return specs.map((spec) => {
      if (spec.pipelineRef === undefined) return ruleColumns(spec, null);
      const id = ids.get(nameKeyOf(spec.pipelineRef));
      // The manifest of the pipeline was rejected and no version of it was accepted before.
      if (id === undefined)
        throw preconditionFailed(
          `waits for the pipeline "${spec.pipelineRef}", which has no accepted version yet`,
          { reason: 'Blocked' },
        );
      return ruleColumns(spec, id);
    });
  },
  changed: publishChange,
});

export const pruneAlertRule = pruneOperation({
  ...RULES,
  name: 'alert.prune',
  audit: 'alertRule.pruned',
  changed: publishChange,
});
