import { convergeAlertRules, pruneAlertRule } from '../../controller/insight/alerts/index.ts';
import type { DesiredManifest } from '../source/index.ts';
import { flatKind } from './flat.ts';

const specOf = (manifest: DesiredManifest) => (manifest as DesiredManifest<'AlertRule'>).spec;
const SIGNS = { gt: '>', lt: '<', eq: '=' } as const;

export const alertRuleKind = flatKind({
  kind: 'AlertRule',
  table: 'alert_rules',
  order: 30,
  references(manifest) {
    const { pipelineRef } = specOf(manifest);
    return pipelineRef === undefined
      ? []
      : [
          {
            kind: 'Pipeline',
            name: pipelineRef,
            field: 'pipelineRef',
            pointer: '/pipelineRef',
            blocks: false,
          },
        ];
  },
  describe(manifest) {
    const { metric, condition, threshold, enabled } = specOf(manifest);
    return `alert rule ${metric} ${SIGNS[condition]} ${threshold}${enabled ? '' : ', disabled'}`;
  },
  converge: convergeAlertRules,
  prune: pruneAlertRule,
});
